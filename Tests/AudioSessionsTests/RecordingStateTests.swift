import AudioBasics
import AudioFiles
import RealtimeAudio
import Testing

@testable import AudioSessions

/// Tests of what a recording publishes while it runs: its state and its events.
struct RecordingStateTests {
  @Test func `reading the state does not request it`() throws {
    let rig = try RecordingRig()
    #expect(rig.writer.events.state.sampleRate == 8000)
    rig.record(4000)
    rig.save()
    #expect(rig.writer.events.state.frames == 0)
    #expect(rig.writer.events.state.levels == .nothing)
    rig.writer.events.requestState()
    rig.record(4000)
    rig.save()
    let state = rig.writer.events.state
    #expect(state.frames == 8000 && state.seconds == 1 && state.isOpen)
    #expect(state.byteCount >= 4 * 8000)
    #expect(state.levels.samplePeaks == [Float(8000) / 1_048_576])
    #expect(state.path == rig.folder("take.wav"))
    rig.finish()
  }

  @Test func `the deprecated state requests itself`() throws {
    let rig = try RecordingRig()
    #expect(rig.writer.events.requestedState.frames == 0)
    rig.record(4000)
    rig.save()
    #expect(rig.writer.events.requestedState.frames == 4000)
    rig.finish()
  }

  @Test func `the last state is that of the report, without the files that were removed`() throws {
    let rig = try RecordingRig {
      $0.split = .frames(1000)
      $0.keep = .files(2)
    }
    rig.writer.events.requestState()
    rig.record(4500)
    rig.finish()
    let state = rig.writer.events.state
    #expect(state.frames == 4500 && rig.writer.report.frames == 4500)
    #expect(state.levels == rig.writer.report.levels)
    // That of the last frames.
    #expect(state.path?.hasSuffix("take-005.wav") == true && state.isOpen)
    let sizes = rig.writer.report.files.map { FileStatus(of: $0.path)?.byteCount ?? 0 }
    #expect(sizes.count == 2 && state.byteCount == sizes.reduce(0, +))
  }

  @Test func `the state follows pauses`() throws {
    let rig = try RecordingRig()
    rig.writer.events.requestState()
    rig.writer.control.request(.pause, at: 1000)
    rig.record(4000)
    rig.save()
    #expect(rig.writer.events.state.isPaused)
    #expect(rig.writer.events.state.frames == 1000)
    rig.writer.control.request(.resume, at: 5000)
    rig.record(4000)
    rig.save()
    #expect(!rig.writer.events.state.isPaused)
    #expect(rig.writer.events.state.frames == 4000)
    rig.finish()
  }

  @Test func `a second queue has all events, whatever is taken from the first`() throws {
    let events = RecordingEvents()
    events.emit(.split(RecordedFile(path: "1", firstFrame: 0, start: 0)))
    events.emit(.onlySilence)
    #expect(events.takeForwarded().isEmpty)
    events.forward()
    #expect(events.take().count == 2)
    events.emit(.onlySilence)
    #expect(events.takeForwarded().count == 3)
    #expect(events.takeForwarded().isEmpty)
    #expect(events.take().count == 1)
    for _ in 0..<20_000 { events.emit(.onlySilence) }
    #expect((5000...10_000).contains(events.takeForwarded().count))
    #expect((5000...10_000).contains(events.take().count))
  }

  @Test func `the rules for the files are also properties of the plan`() {
    var plan = RecordingPlan(
      path: "take.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2)
    #expect(plan.fileRules == RecordingFileRules())
    #expect(plan.continuesInNextFile && plan.syncSeconds == 1 && !plan.overwrite)
    plan.overwrite = true
    plan.tags.title = "Title"
    plan.split = .frames(1)
    plan.continuesInNextFile = false
    plan.keep = .bytes(1)
    plan.onFile = "true"
    plan.reportsCommandOutput = true
    plan.syncSeconds = 2
    let rules = plan.fileRules
    #expect(rules.overwrite && rules.tags.title == "Title" && rules.split == .frames(1))
    #expect(!rules.continuesInNextFile && rules.keep == .bytes(1) && rules.onFile == "true")
    #expect(rules.reportsCommandOutput && rules.syncSeconds == 2)
    #expect(plan.tags == rules.tags && plan.split == rules.split && plan.keep == rules.keep)
    #expect(plan.onFile == rules.onFile && plan.reportsCommandOutput && plan.overwrite)
  }
}

/// The state under its deprecated name, which still works.
private protocol DeprecatedState { var latest: RecordingState { get } }

extension RecordingEvents: DeprecatedState {
  fileprivate var requestedState: RecordingState { (self as any DeprecatedState).latest }
}

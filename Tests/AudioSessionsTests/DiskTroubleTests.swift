import AudioBasics
import AudioDevices
import AudioFiles
import Testing

@testable import AudioSessions

/// Tests of a disk that refuses writes or is nearly full.
@Suite struct DiskTroubleTests {
  @Test func `a recording continues in the present file if the next one cannot be created`() throws
  {
    let rig = try RecordingRig { plan in
      // With a number, that path is longer than the kernel allows.
      let missing = 4095 - plan.path.utf8.count
      plan.path =
        FileName.folder(of: plan.path) + "/" + String(repeating: "./", count: missing / 2)
        + FileName.last(of: plan.path)
    }
    rig.writer.control.request(.split, at: 3000)
    rig.record(4000)
    rig.finish()
    #expect(rig.writer.report.failure == nil)
    #expect(rig.writer.report.files.map(\.frames) == [4000])
    #expect(rig.events.contains { if case .warning = $0 { true } else { false } })
  }

  @Test func `a nearly full disk is reported once for each mark`() {
    var plan = RecordingPlan(
      path: "/tmp/take.wav", fileFormat: .wav, sampleFormat: .float, sampleRate: 1 << 50,
      channelCount: 1)
    plan.isVirtual = true
    var watch = SpaceWatch()
    let events = RecordingEvents()
    let file = GrowingFile(
      plan: plan, file: RecordedFile(path: plan.path, firstFrame: 0, start: 0))
    for _ in 0..<3 {
      let left = watch.check(at: [file], events: events)
      #expect(left.map { $0 < 10 } == true)
    }
    let reported = events.take().filter { if case .diskLow = $0 { true } else { false } }
    #expect(reported.count == 1)
  }

  @Test func `the remaining time is halved if the unprocessed sound is recorded as well`() throws {
    func seconds(rawName: String?) throws -> Double? {
      let rig = try RecordingRig(rawName: rawName) { $0.isVirtual = false }
      rig.record(100)
      rig.save()
      defer { rig.finish() }
      return rig.writer.events.state.secondsLeft
    }
    let alone = try #require(try seconds(rawName: nil))
    let both = try #require(try seconds(rawName: "raw.wav"))
    #expect(abs(alone / both - 2) < 0.2)
  }

  @Test func `the unprocessed recording is as long as the recording`() throws {
    let window = PunchWindow(firstFrame: 500, frames: 2000)
    let rig = try RecordingRig(gate: WindowGate(window), rawName: "raw.wav")
    rig.record(1000)
    rig.save()
    rig.record(4000)
    rig.finish()
    var raw = try SoundFileReader(path: rig.folder("raw.wav"))
    var buffer = SampleBuffer(frameCount: 4000, channelCount: 1)
    let count = try raw.read(into: &buffer)
    #expect(count == 2000)
    #expect(buffer[0] == Float(501) / 1_048_576)
    #expect(rig.writer.report.frames == 2000)
  }

  @Test func `a gap after the last frame is silence in the file`() throws {
    let rig = try RecordingRig()
    rig.record(1000)
    rig.lose(300)
    rig.finish()
    #expect(rig.writer.report.frames == 1300)
    #expect(rig.writer.report.gaps == [RecordingGap(frame: 1000, frames: 300)])
  }

  @Test func `a recording without a frame leaves no file`() throws {
    let rig = try RecordingRig()
    rig.save()
    rig.finish()
    #expect(rig.names.isEmpty)
  }

  @Test func `a ring that exceeds the memory is refused with a message`() {
    let plan = RecordingPlan(
      path: "/tmp/duplex-no-such-file.wav", fileFormat: .wav, sampleFormat: .float,
      sampleRate: 768_000, channelCount: 64)
    let refusal = #expect(throws: FileFailure.self) {
      _ = try RecordingWriter(plan, ringFrames: 1 << 46)
    }
    #expect(refusal?.kind == .invalidRequest)
    #expect(!SoundFileReader.exists(plan.path))
  }
}

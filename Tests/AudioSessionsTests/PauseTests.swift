import AudioBasics
import AudioDevices
import AudioFiles
import Testing

@testable import AudioSessions

/// Tests of a recording that the user pauses, and of a microphone gain that changes during a
/// recording.
@Suite struct PauseTests {
  @Test func `frames during a pause are left out`() throws {
    let rig = try RecordingRig()
    rig.writer.control.request(.pause, at: 1000)
    rig.record(2500)
    rig.save()
    rig.writer.control.request(.resume, at: 3000)
    rig.record(2500)
    rig.finish()
    #expect(try rig.allNumbers() == Array(1...1000) + Array(3001...5000))
    #expect(
      rig.writer.report.pauses == [RecordingPause(frame: 1000, timelineFrame: 1000, frames: 2000)])
    #expect(rig.writer.report.frames == 3000)
    let reported = rig.events.compactMap { event -> (String, Int)? in
      switch event {
      case .paused(let pause): ("paused", pause.frames)
      case .resumed(let pause): ("resumed", pause.frames)
      default: nil
      }
    }
    #expect(reported.map(\.0) == ["paused", "resumed"] && reported.map(\.1) == [0, 2000])
  }

  @Test func `two pauses have positions in the recording and on the timeline`() throws {
    let rig = try RecordingRig(rawName: "raw.wav")
    for (command, frame) in [
      (RecordingCommand.pause, 100), (.pause, 150), (.resume, 300), (.resume, 350), (.pause, 700),
      (.mark("here"), 800), (.resume, 1000),
    ] { rig.writer.control.request(command, at: frame) }
    rig.record(1200)
    rig.finish()
    let kept = Array(1...100) + Array(301...700) + Array(1001...1200)
    #expect(try rig.allNumbers() == kept)
    #expect(
      rig.writer.report.pauses == [
        RecordingPause(frame: 100, timelineFrame: 100, frames: 200),
        RecordingPause(frame: 500, timelineFrame: 700, frames: 300),
      ])
    // A marker that is set during a pause is placed where the recording continues.
    #expect(rig.writer.report.markers == [RecordedMarker(frame: 500, label: "here")])
    #expect(FileStatus(of: rig.folder("raw.wav")).map { $0.byteCount > 700 * 4 } == true)
  }

  @Test func `a recording may begin and end in a pause`() throws {
    let rig = try RecordingRig()
    rig.writer.control.request(.pause, at: 0)
    rig.writer.control.request(.resume, at: 500)
    rig.writer.control.request(.pause, at: 900)
    rig.record(1500)
    rig.finish()
    #expect(try rig.allNumbers() == Array(501...900))
    #expect(rig.writer.report.pauses.map(\.frames) == [500, 600])
  }

  @Test func `frames lost in a pause are not a gap of the recording`() throws {
    let rig = try RecordingRig()
    rig.writer.control.request(.pause, at: 500)
    rig.writer.control.request(.resume, at: 2000)
    rig.record(800)
    rig.record(1500, lost: 100)
    rig.finish()
    #expect(rig.writer.report.gaps.isEmpty)
    #expect(try rig.allNumbers() == Array(1...500) + Array(2001...2400))
  }

  @Test func `a file split in a pause begins where the recording continues`() throws {
    let rig = try RecordingRig()
    rig.writer.control.request(.pause, at: 500)
    rig.writer.control.request(.split, at: 600)
    rig.writer.control.request(.resume, at: 1000)
    rig.record(1500)
    rig.finish()
    #expect(rig.writer.report.files.map(\.frames) == [500, 500])
  }

  @Test func `a pause while the gate is closed is reported at once, with its full length`() throws {
    let rig = try RecordingRig(gate: WindowGate(PunchWindow(firstFrame: 3000)))
    rig.writer.control.request(.pause, at: 500)
    rig.writer.control.request(.mark("early"), at: 700)
    rig.record(1000)
    rig.save()
    #expect(rig.events.count == 2)
    rig.writer.control.request(.resume, at: 1500)
    rig.record(1000)
    rig.save()
    #expect(rig.events.count == 3)
    let pause = RecordingPause(frame: 0, timelineFrame: 500, frames: 1000)
    if case .resumed(let reported)? = rig.events.last { #expect(reported == pause) }
    rig.record(2000)
    rig.finish()
    #expect(rig.writer.report.pauses == [pause])
    #expect(rig.writer.report.markers == [RecordedMarker(frame: 0, label: "early")])
    #expect(try rig.allNumbers() == Array(3001...4000))
  }

  @Test func `a pause that began while the gate was closed lasts until it is ended`() throws {
    let rig = try RecordingRig(gate: WindowGate(PunchWindow(firstFrame: 1000)))
    rig.writer.control.request(.pause, at: 500)
    rig.writer.control.request(.resume, at: 1500)
    rig.record(2000)
    rig.finish()
    #expect(
      rig.writer.report.pauses == [RecordingPause(frame: 0, timelineFrame: 500, frames: 1000)])
    #expect(try rig.allNumbers() == Array(1501...2000))
  }
}

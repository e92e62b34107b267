import AudioFiles
import AudioLevels
import Testing

@testable import AudioSessions

/// Tests of takes that wait for a start command.
@Suite struct StartTests {
  @Test(arguments: [(0, 3000), (500, 3000), (5000, 3000), (500, 100)])
  func `a recording begins exactly the pre-roll before its start`(preRoll: Int, start: Int) throws {
    let rig = try RecordingRig(gate: WindowGate(preRollFrames: preRoll, frames: 1000))
    rig.writer.control.request(.start, at: start)
    for _ in 0..<60 {
      rig.record(100)
      rig.save()
    }
    #expect(rig.writer.isGateFinished)
    rig.finish()
    let first = max(0, start - preRoll)
    #expect(try rig.allNumbers() == Array(first + 1...start + 1000))
  }

  @Test func `a recording that is never started is empty`() throws {
    let rig = try RecordingRig(gate: WindowGate(preRollFrames: 500, frames: nil))
    rig.record(5000)
    rig.finish()
    #expect(rig.writer.report.frames == 0)
    #expect(rig.writer.report.failure == nil)
  }

  @Test func `frames checked before a recording are not part of it`() throws {
    let rig = try RecordingRig { $0.checkSeconds = 0.5 }
    rig.record(6000)
    rig.finish()
    #expect(try rig.allNumbers() == Array(4001...6000))
    let checks = rig.events.compactMap { event -> ProgrammeLevels? in
      if case .checked(let levels) = event { levels } else { nil }
    }
    #expect(checks.map { $0.samplePeaks } == [[4000 / 1_048_576]])
  }
}

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

  @Test(arguments: [(nil, false), ("n-03.wav", false), ("n-03.wav", true)])
  func `the first name has the time of the first frame, even if it comes late`(
    taken: String?, overwrite: Bool
  ) throws {
    let rig = try RecordingRig(
      name: "n-%S.wav", gate: WindowGate(preRollFrames: 500, frames: nil)
    ) {
      ($0.split, $0.overwrite) = (.frames(8000), overwrite)
    }
    if let taken { try TextFile.write("mine", to: rig.folder(taken), overwrite: false) }
    rig.writer.control.request(.start, at: 3 * 8000 + 500)
    rig.record(5 * 8000)
    rig.finish()
    let first = taken != nil && !overwrite ? "n-03-2.wav" : "n-03.wav"
    let names = [first, "n-04.wav"]
    #expect(rig.names == Set(names + [taken].compactMap { $0 }).sorted())
    #expect(rig.writer.report.files.map { String(FileName.last(of: $0.path)) } == names)
    #expect(try rig.allNumbers() == Array(3 * 8000 + 1...5 * 8000))
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

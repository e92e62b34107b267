import AudioBasics
import AudioDevices
import RealtimeAudio
import Testing

/// Tests of a unit whose device stalls: the unit ends by itself, and accepts a stop before that.
@Suite struct StandstillTests {
  private func unit(
    _ device: consuming ScriptedDevice, _ progress: borrowing UnitProgress, fadeFrames: Int = 0
  ) throws -> DuplexUnit<DuplexClosures> {
    var unit = DuplexUnit(
      device: device, callbacks: DuplexClosures(), progress: progress, fadeFrames: fadeFrames)
    try unit.start()
    return unit
  }

  @Test func `a device that is ready without frames is given up after five seconds`() throws {
    let progress = UnitProgress()
    var unit = try unit(
      ScriptedDevice([.ready] + Array(repeating: .empty, count: 60)), progress)
    var turns = 0
    while true {
      let outcome = unit.cycle()
      if case .failed(let failure) = outcome {
        #expect(failure.message.contains("has delivered nothing for 5 seconds"))
        break
      }
      turns += 1
      #expect(turns < 55)
      if turns > 60 { break }
    }
    #expect(progress.frames == ScriptedDevice.period)
  }

  @Test(arguments: [ScriptedDevice.Answer.waiting, .empty, .xrun])
  func `a stop ends the unit within 0.3 seconds of the device's time`(answer: ScriptedDevice.Answer)
    throws
  {
    let progress = UnitProgress()
    // A fade-out would need frames that never arrive.
    var unit = try unit(
      ScriptedDevice([.ready] + Array(repeating: answer, count: 40)), progress, fadeFrames: 480)
    for _ in 0..<3 { _ = unit.cycle() }
    progress.requestStop()
    var turns = 0
    while turns < 10 {
      if case .finished = unit.cycle() { break }
      turns += 1
    }
    // A turn takes 100 ms.
    #expect(turns <= 3)
  }

  @Test func `repeated gaps without a frame between them end the unit after five seconds`()
    throws
  {
    let progress = UnitProgress()
    var unit = try unit(ScriptedDevice(Array(repeating: .xrun, count: 200)), progress)
    var turns = 0
    while turns < 200 {
      if case .failed(let failure) = unit.cycle() {
        #expect(failure.message.contains("loses frames faster than it delivers them"))
        break
      }
      turns += 1
    }
    #expect((45...55).contains(turns))
    #expect(progress.captureXruns == turns + 1)
  }

  @Test func `NaN samples are counted and played as silence`() throws {
    let progress = UnitProgress()
    var table = [Float](repeating: 0.25, count: 640)
    for index in [0, 63, 64, 200, 639] { table[index] = .nan }
    let played = MutexBox<[Float]>([])
    var unit = DuplexUnit(
      device: PlayedDevice(sampleRate: 48000, periodFrames: 64, played: played),
      callbacks: TablePlayer(table, periodFrames: 64), progress: progress)
    try unit.start()
    let failure = unit.run()
    #expect(failure == nil)
    #expect(progress.nanCount == 5)
    #expect(played.withLock { $0 } == table.map { $0.isNaN ? 0 : $0 })
  }
}

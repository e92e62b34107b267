import AudioDevices
import RealtimeAudio
import Testing

/// Tests of an output whose rate is not the unit's.
@Suite struct ResamplingTests {
  static let rates = [8000, 22050, 32000, 44100, 48000, 88200, 96000, 192_000]

  /// Returns the samples that an output of `deviceRate` receives when a unit of `unitRate` plays
  /// `table`.
  private func played(_ table: [Float], from unitRate: Int, to deviceRate: Int, period: Int = 64)
    throws -> [Float]
  {
    let played = MutexBox<[Float]>([])
    var request = DuplexRequest(captureDevice: nil, playbackDevice: "played")
    request.sampleRate = unitRate
    request.periodFrames = period
    let atDevice = request.atRate(deviceRate)
    let device = try ResamplingDevice(
      PlayedDevice(
        sampleRate: deviceRate, periodFrames: atDevice.periodFrames, played: played),
      request: request)
    var unit = DuplexUnit(
      device: device, callbacks: TablePlayer(table, periodFrames: period),
      progress: UnitProgress())
    try unit.start()
    let failure = unit.run()
    #expect(failure == nil)
    unit.stop(draining: true)
    return played.withLock { $0 }
  }

  @Test(
    arguments: rates.flatMap { unit in rates.filter { $0 != unit }.map { (unit, $0) } })
  func `exactly all frames are played`(unitRate: Int, deviceRate: Int) throws {
    var table = [Float](repeating: 0, count: 4321)
    // Both ends are loud, so that a missing frame there is detected.
    for index in 0..<60 {
      table[index] = 0.5
      table[table.count - 1 - index] = 0.5
    }
    let heard = try played(table, from: unitRate, to: deviceRate)
    #expect(heard.count == (table.count * deviceRate + unitRate - 1) / unitRate)
    let last = (table.count - 1) * deviceRate / unitRate
    #expect(heard[0] > 0.1 && heard[last] > 0.1)
    let edge = 20 * deviceRate / unitRate
    // If the loud part is only a few device frames long, the filter smooths it.
    guard edge >= 4 else { return }
    #expect(abs(heard[edge] - 0.5) < 0.05 && abs(heard[heard.count - 1 - edge] - 0.5) < 0.05)
  }

  @Test(arguments: [0, 1, 2, 63, 64, 65])
  func `a sound shorter than the converter's filter is played completely`(frames: Int) throws {
    let heard = try played([Float](repeating: 0.5, count: frames), from: 96000, to: 48000)
    #expect(heard.count == (frames + 1) / 2)
  }

  @Test func `a device that is ready but accepts nothing ends the run`() throws {
    var request = DuplexRequest(captureDevice: nil, playbackDevice: "played")
    request.sampleRate = 44100
    request.periodFrames = 64
    let device = try ResamplingDevice(
      PlayedDevice(sampleRate: 48000, periodFrames: 70, room: .never), request: request)
    var unit = DuplexUnit(
      device: device, callbacks: TablePlayer([Float](repeating: 0, count: 96000), periodFrames: 64),
      progress: UnitProgress())
    try unit.start()
    let failure = unit.run()
    #expect(failure?.message.contains("has delivered nothing for 5 seconds") == true)
    unit.stop(draining: true)
  }
}

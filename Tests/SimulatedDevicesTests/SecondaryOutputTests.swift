import AudioBasics
import Foundation
import RealtimeAudio
import Testing

@testable import AudioDevices
@testable import SimulatedDevices

/// The result of a run with secondary outputs.
private struct SecondaryRun {
  var heard: [Float] = []
  var configuration: DuplexConfiguration
  var readings: [SecondaryOutputReading] = []
  var events: [TimelineEvent] = []
  var xruns = 0
  /// The lead of each secondary output over its expected time, in frames of the unit, for each
  /// block.
  var leads: [[Double]] = []
  /// The lowest peak of any block.
  var quietest: Float = 1
}

/// Tests of the same signal on several devices.
struct SecondaryOutputTests {
  private static let pitch = 997.0 / 48000

  private func request(period: Int) -> DuplexRequest {
    var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
    request.periodFrames = period
    request.channelCount = 1
    return request
  }

  /// Plays a tone on a simulated device; `names` are the secondary outputs.
  private func play(_ names: [String], seconds: Int, measuring tail: Int) throws -> SecondaryRun {
    let request = request(period: 64)
    let base = try SimulatedDevice(
      SimulatedDeviceSpecification(parsing: "sim:clock=free"), request: request)
    return try play(DuplexDevice(base), request, names, seconds: seconds, measuring: tail)
  }

  /// Plays a tone on two devices with two clocks.
  private func playDrifting(
    _ settings: String, master: ClockMaster = .playback, period: Int = 64, _ names: [String],
    seconds: Int, measuring tail: Int
  ) throws -> SecondaryRun {
    let request = request(period: period)
    let specification = try SimulatedDeviceSpecification(parsing: "sim:clock=free,\(settings)")
    let pair = try DevicePair(simulating: specification, request: request)
    return try play(
      DuplexDevice(AsynchronousPair(pair, request: request, master: master)), request, names,
      seconds: seconds,
      measuring: tail, drift: master == .capture ? specification.driftPPM : 0)
  }

  /// Plays a tone on any device, whose clock is fast by `drift` ppm.
  private func play(
    _ base: consuming DuplexDevice, _ request: DuplexRequest, _ names: [String], seconds: Int,
    measuring tail: Int, drift: Double = 0
  ) throws -> SecondaryRun {
    let period = request.periodFrames
    var device = FanOutDevice(base, resamplerQuality: 5)
    var specifications: [SimulatedDeviceSpecification] = []
    // The simulated outputs exist as long as the unit's device.
    var outputs: [UnsafeMutablePointer<SimulatedOutput>] = []
    for name in names {
      var specification = try SimulatedDeviceSpecification(parsing: name)
      specification.channelCount = 1
      var secondary = request
      secondary.sampleRate = 48000
      secondary.playbackDevice = name
      secondary.captureDevice = nil
      let output = SharedState(
        try SimulatedOutput(
          specification, request: secondary.atRate(specification.sampleRate),
          remembering: 2 * specification.sampleRate * tail))
      outputs.append(output.pointer)
      try device.add(DeviceStream(SimulatedOutputStream(output: output)))
      specifications.append(specification)
    }
    let frames = seconds * 48000
    let signal = (0..<frames).map { Float(0.89 * sine(Self.pitch, at: Double($0))) }
    let progress = UnitProgress()
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    var unit = DuplexUnit(
      device: device,
      callbacks: PlayAndCapture(
        signal: signal, frames: frames, periodFrames: period, channelCount: 1),
      progress: progress, events: writer, frameLimit: frames, reconnects: true)
    var run = SecondaryRun(configuration: unit.configuration)
    try unit.start()
    _ = unit.run()
    run.heard = unit.callbacks.heard
    run.readings = progress.secondaryOutputs
    run.xruns = progress.captureXruns + progress.playbackXruns
    while let event = reader.read() { run.events.append(event) }
    for (index, specification) in specifications.enumerated() {
      let late =
        run.configuration.secondaryOutputs[index].latencyFrames + Double(period)
        + (drift == 0 ? 0 : run.configuration.resamplerDelayFrames)
      let rate = specification.sampleRate
      let first = (seconds - tail) * rate
      let count = tail * rate - rate / 10
      var heard = SampleBuffer(frameCount: count, channelCount: 1)
      outputs[index].pointee.playedHistory.read(from: first, frames: count, times: 1, into: &heard)
      for start in stride(from: 0, to: count - 96, by: 96) {
        let peak = (start..<start + 96).map { abs(heard[$0]) }.max() ?? 0
        run.quietest = min(run.quietest, peak)
      }
      let course = ClockModel(specification, drifts: true)
      run.leads.append(
        lead(
          (0..<count).map { heard[$0] }, cyclesPerFrame: Self.pitch, block: rate / 100, from: 0
        ) {
          (course.seconds(at: $0 + Double(first)) * 48000 - late) * (1 + drift * 1e-6)
            - Double(period)
        })
    }
    return run
  }

  @Test func `each of three secondary outputs plays with its own constant delay`() throws {
    let names = [
      "sim:drift=100", "sim:drift=-100,rate=44100", "sim:drift=100,batch=48,jitter=1",
    ]
    let run = try play(names, seconds: 10, measuring: 2)
    #expect(run.xruns == 0 && run.quietest > 0.8)
    for (leads, reading) in zip(run.leads, run.readings) {
      #expect((leads.map(abs).max() ?? 9) < 1)
      #expect(reading.xruns == 0 && reading.drift.relocks == 0)
    }
    #expect(run.configuration.secondaryOutputs.allSatisfy { $0.latencyFrames < 200 })
  }

  @Test func `a step of a clock by 1000 ppm is followed`() throws {
    let run = try play(
      ["sim:drift=0.1,drift-at=3:1000", "sim:drift=0.1,drift-at=3:-1000"], seconds: 12,
      measuring: 2)
    #expect(run.xruns == 0 && run.quietest > 0.8)
    for (leads, reading) in zip(run.leads, run.readings) {
      #expect((leads.map(abs).max() ?? 9) < 1)
      #expect(reading.xruns == 0)
    }
  }

  /// Simulates two loopback cards, and a third one with another rate, whose positions advance with
  /// the kernel's tick.
  @Test func `clocks that are read in steps of 4 ms are kept synchronous`() throws {
    let run = try playDrifting(
      "tick=4", period: 256, ["sim:drift=500,rate=44100,tick=4"], seconds: 40, measuring: 10)
    #expect(run.xruns == 0 && run.quietest > 0.8)
    #expect((run.leads[0].map(abs).max() ?? 99) < 3)
    let reading = run.readings[0]
    #expect(abs(reading.drift.errorFrames) < 1 && abs(reading.drift.ppm + 500) < 1)
    #expect(reading.xruns == 0 && reading.drift.relocks == 0)
  }

  @Test func `secondary outputs follow the input if it is the master`() throws {
    let run = try playDrifting(
      "drift=100", master: .capture, ["sim:drift=-100", "sim:drift=200,rate=44100"], seconds: 10,
      measuring: 2)
    #expect(run.xruns == 0 && run.quietest > 0.8)
    for leads in run.leads { #expect((leads.map(abs).max() ?? 9) < 1) }
    #expect(run.readings.allSatisfy { $0.drift.relocks == 0 })
  }

  @Test func `a secondary output continues while the unit's output is absent`() throws {
    let run = try playDrifting(
      "drift=50,unplug-at=3,unplug-side=playback,replug-at=4", ["sim:drift=100"], seconds: 8,
      measuring: 6)
    #expect(run.events.map(\.kind) == [.playbackLost, .playbackReturned])
    #expect(run.quietest > 0.8)
    #expect((run.leads[0].map(abs).max() ?? 9) < 1)
    #expect(run.readings[0].drift.relocks == 0 && run.readings[0].xruns == 0)
  }

  @Test func `a secondary output that underruns or is lost returns, and affects no other`() throws {
    let names = ["sim:drift=50,dry-at=1", "sim:drift=50,unplug-at=1,replug-at=2"]
    let run = try play(names, seconds: 5, measuring: 1)
    let alone = try play([], seconds: 5, measuring: 1)
    #expect(difference(run.heard, alone.heard[...]) == nil)
    #expect(run.xruns == 0 && run.quietest > 0.8)
    #expect(run.events.map(\.kind) == [.secondaryOutputLost, .secondaryOutputReturned])
    #expect(run.readings.map(\.xruns) == [1, 0])
    for (leads, reading) in zip(run.leads, run.readings) {
      #expect((leads.map(abs).max() ?? 9) < 1)
      #expect(reading.drift.relocks == 1)
    }
  }

  @Test func `more than eight secondary outputs are refused`() throws {
    #expect(throws: DeviceFailure.self) {
      try play(Array(repeating: "sim:drift=1", count: 9), seconds: 1, measuring: 1)
    }
  }
}

import AudioBasics
import Foundation
import RealtimeAudio
import Testing

@testable import AudioDevices
@testable import SimulatedDevices

/// The result of a run with secondary outputs.
private struct SecondaryRun {
  var result: UnitResult
  /// The lead of each secondary output over its expected time, in frames of the unit, for each
  /// block.
  var leads: [[Double]] = []
  /// The lowest peak of any block.
  var quietest: Float = 1

  var xruns: Int { result.xruns }
}

/// The frequency of the tone in cycles per frame.
private let pitch = 997.0 / 48000

/// Tests of the same signal on several devices.
struct SecondaryOutputTests {
  /// A tone that is played on a simulated device and on secondary outputs.
  private struct Playback {
    /// The names of the secondary outputs.
    var names: [String]
    /// The options of two devices with two clocks, which the unit then has; nil for one device.
    var clocks: String?
    var master = ClockMaster.playback
    var period = 64
    var seconds: Int
    /// The last seconds, in which the secondary outputs are measured.
    var measured: Int

    private var request: DuplexRequest {
      var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
      request.periodFrames = period
      request.channelCount = 1
      return request
    }

    func run() throws -> SecondaryRun {
      guard let clocks else {
        let specification = try SimulatedDeviceSpecification(parsing: "sim:clock=free")
        return try run(on: DuplexDevice(SimulatedDevice(specification, request: request)))
      }
      let specification = try SimulatedDeviceSpecification(parsing: "sim:clock=free,\(clocks)")
      let pair = try DevicePair(simulating: specification, request: request)
      return try run(
        on: DuplexDevice(AsynchronousPair(pair, request: request, master: master)),
        drift: master == .capture ? specification.driftPPM : 0)
    }

    /// Plays the tone on any device, whose clock is fast by `drift` ppm.
    private func run(on base: consuming DuplexDevice, drift: Double = 0) throws -> SecondaryRun {
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
            remembering: 2 * specification.sampleRate * measured))
        outputs.append(output.pointer)
        try device.add(DeviceStream(SimulatedOutputStream(output: output)))
        specifications.append(specification)
      }
      let frames = seconds * 48000
      let signal = (0..<frames).map { Float(0.89 * sine(pitch, at: Double($0))) }
      let unit = UnitRun(
        playing: signal, frames: frames, period: period, channels: 1, reconnects: true)
      var leads: [[Double]] = []
      var quietest: Float = 1
      let result = try unit.run(on: DuplexDevice(device)) { configuration in
        for (index, specification) in specifications.enumerated() {
          let late =
            configuration.secondaryOutputs[index].latencyFrames + Double(period)
            + (drift == 0 ? 0 : configuration.resamplerDelayFrames)
          let rate = specification.sampleRate
          let first = (seconds - measured) * rate
          let count = measured * rate - rate / 10
          var heard = SampleBuffer(frameCount: count, channelCount: 1)
          outputs[index].pointee.playedHistory.read(
            from: first, frames: count, times: 1, into: &heard)
          for start in stride(from: 0, to: count - 96, by: 96) {
            let peak = (start..<start + 96).map { abs(heard[$0]) }.max() ?? 0
            quietest = min(quietest, peak)
          }
          let course = ClockModel(specification, drifts: true)
          leads.append(
            lead(
              (0..<count).map { heard[$0] }, cyclesPerFrame: pitch, block: rate / 100, from: 0
            ) {
              (course.seconds(at: $0 + Double(first)) * 48000 - late) * (1 + drift * 1e-6)
                - Double(period)
            })
        }
      }
      return SecondaryRun(result: result, leads: leads, quietest: quietest)
    }
  }

  @Test func `each of three secondary outputs plays with its own constant delay`() throws {
    let names = [
      "sim:drift=100", "sim:drift=-100,rate=44100", "sim:drift=100,batch=48,jitter=1",
    ]
    let run = try Playback(names: names, seconds: 10, measured: 2).run()
    #expect(run.xruns == 0 && run.quietest > 0.8)
    for (leads, reading) in zip(run.leads, run.result.secondaryOutputs) {
      #expect((leads.map(abs).max() ?? 9) < 1)
      #expect(reading.xruns == 0 && reading.drift.relocks == 0)
    }
    #expect(run.result.configuration.secondaryOutputs.allSatisfy { $0.latencyFrames < 200 })
  }

  @Test func `a step of a clock by 1000 ppm is followed`() throws {
    let run = try Playback(
      names: ["sim:drift=0.1,drift-at=3:1000", "sim:drift=0.1,drift-at=3:-1000"], seconds: 12,
      measured: 2
    ).run()
    #expect(run.xruns == 0 && run.quietest > 0.8)
    for (leads, reading) in zip(run.leads, run.result.secondaryOutputs) {
      #expect((leads.map(abs).max() ?? 9) < 1)
      #expect(reading.xruns == 0)
    }
  }

  /// Simulates two loopback cards, and a third one with another rate, whose positions advance with
  /// the kernel's tick.
  @Test func `clocks that are read in steps of 4 ms are kept synchronous`() throws {
    let run = try Playback(
      names: ["sim:drift=500,rate=44100,tick=4"], clocks: "tick=4", period: 256, seconds: 40,
      measured: 10
    ).run()
    #expect(run.xruns == 0 && run.quietest > 0.8)
    #expect((run.leads[0].map(abs).max() ?? 99) < 3)
    let reading = run.result.secondaryOutputs[0]
    #expect(abs(reading.drift.errorFrames) < 1 && abs(reading.drift.ppm + 500) < 1)
    #expect(reading.xruns == 0 && reading.drift.relocks == 0)
  }

  @Test func `secondary outputs follow the input if it is the master`() throws {
    let run = try Playback(
      names: ["sim:drift=-100", "sim:drift=200,rate=44100"], clocks: "drift=100", master: .capture,
      seconds: 10, measured: 2
    ).run()
    #expect(run.xruns == 0 && run.quietest > 0.8)
    for leads in run.leads { #expect((leads.map(abs).max() ?? 9) < 1) }
    #expect(run.result.secondaryOutputs.allSatisfy { $0.drift.relocks == 0 })
  }

  @Test func `a secondary output continues while the unit's output is absent`() throws {
    let run = try Playback(
      names: ["sim:drift=100"], clocks: "drift=50,unplug-at=3,unplug-side=playback,replug-at=4",
      seconds: 8, measured: 6
    ).run()
    #expect(run.result.events.map(\.kind) == [.playbackLost, .playbackReturned])
    #expect(run.quietest > 0.8)
    #expect((run.leads[0].map(abs).max() ?? 9) < 1)
    #expect(
      run.result.secondaryOutputs[0].drift.relocks == 0 && run.result.secondaryOutputs[0].xruns == 0
    )
  }

  @Test func `a secondary output that underruns or is lost returns, and affects no other`() throws {
    let names = ["sim:drift=50,dry-at=1", "sim:drift=50,unplug-at=1,replug-at=2"]
    let run = try Playback(names: names, seconds: 5, measured: 1).run()
    let alone = try Playback(names: [], seconds: 5, measured: 1).run()
    #expect(difference(run.result.heard, alone.result.heard[...]) == nil)
    #expect(run.xruns == 0 && run.quietest > 0.8)
    #expect(run.result.events.map(\.kind) == [.secondaryOutputLost, .secondaryOutputReturned])
    #expect(run.result.secondaryOutputs.map(\.xruns) == [1, 0])
    for (leads, reading) in zip(run.leads, run.result.secondaryOutputs) {
      #expect((leads.map(abs).max() ?? 9) < 1)
      #expect(reading.drift.relocks == 1)
    }
  }

  @Test func `a resampled device tells which of its secondary outputs went away`() throws {
    var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
    request.periodFrames = 64
    request.channelCount = 1
    let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free,rate=24000")
    let base = try SimulatedDevice(wire, request: request.atRate(24000))
    var fanOut = FanOutDevice(DuplexDevice(base), resamplerQuality: 5)
    for name in ["sim:drift=50", "sim:drift=50,unplug-at=1,replug-at=2"] {
      var secondary = request.atRate(48000)
      (secondary.captureDevice, secondary.playbackDevice) = (nil, name)
      try fanOut.add(
        DeviceStream(
          simulating: SimulatedDeviceSpecification(parsing: name), request: secondary))
    }
    var resampled = request
    resampled.sampleRate = 48000
    let frames = 4 * 48000
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    var unit = DuplexUnit(
      device: try ResamplingDevice(fanOut, request: resampled),
      callbacks: PlayAndCapture(
        signal: [], frames: frames, periodFrames: 64, channelCount: 1),
      progress: UnitProgress(), events: writer, frameLimit: frames, reconnects: true)
    #expect(unit.configuration.sampleRate == 48000)
    try unit.start()
    _ = unit.run()
    var events: [TimelineEvent] = []
    while let event = reader.read() { events.append(event) }
    #expect(events.map(\.kind) == [.secondaryOutputLost, .secondaryOutputReturned])
    #expect(events.map(\.outputIndex) == [1, 1] && events.map(\.frames) == [0, 0])
  }

  @Test func `more than eight secondary outputs are refused`() throws {
    #expect(throws: DeviceFailure.self) {
      try Playback(names: Array(repeating: "sim:drift=1", count: 9), seconds: 1, measured: 1).run()
    }
  }
}

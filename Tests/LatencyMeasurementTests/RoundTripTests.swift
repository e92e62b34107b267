import AudioBasics
import AudioDevices
import AudioSessions
import Glibc
import LatencyMeasurement
import SimulatedDevices
import Testing

/// Tests of complete measurements on the simulated wire.
@Suite struct RoundTripTests {
  private func measure(
    _ wire: String, periodFrames: Int = 256, _ change: (inout ProbePlan) -> Void = { _ in }
  ) throws -> RoundTrips {
    var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
    request.periodFrames = periodFrames
    let specification = try SimulatedDeviceSpecification(parsing: "sim:clock=free," + wire)
    let device = try SimulatedDevice(specification, request: request)
    let configuration = device.configuration
    var plan = ProbePlan(
      sampleRate: configuration.sampleRate, captureChannels: 2, playbackChannels: 2,
      unitLatencyFrames: configuration.latencyFrames)
    plan.repeats = 2
    change(&plan)
    var session = ProbeSession(plan, periodFrames: periodFrames)
    let listener = session.listener
    guard let callbacks = session.takeCallbacks() else {
      Issue.record("the session has no callbacks")
      return RoundTrips()
    }
    let runner = SessionRunner(
      device: device, callbacks: callbacks, background: [listener], meter: nil, frameLimit: nil)
    _ = try runner.run(clock: .virtual) { _, _ in listener.isDone ? .stop(.end) : .proceed }
    return listener.result
  }

  @Test(arguments: [0, 63.5, 1234.25, 95_999.9])
  func `the round trip is the sum of period, headroom and delay of the wire`(delay: Double) throws {
    let trips = try measure("delay=\(delay)")
    let pair = try #require(trips.main)
    for frames in pair.frames { #expect(abs(frames - 512 - delay) < 0.001) }
    #expect(trips.pairs.map { [$0.fromChannel, $0.toChannel] } == [[0, 0], [1, 1]])
  }

  @Test func `an inverted wire in noise is measured without exceeding the maximum level`() throws {
    let trips = try measure("delay=300.5,noise=-40,invert=1,gain=-12") { $0.levelCapDBFS = -20 }
    let pair = try #require(trips.main)
    for estimate in pair.estimates { #expect(estimate.isInverted) }
    for frames in pair.frames { #expect(abs(frames - 812.5) < 0.01) }
    #expect(trips.levelDBFS <= -20)
    #expect(abs(trips.noiseDBFS + 40) < 0.5)
  }

  @Test func `measurements with an xrun are rejected and repeated`() throws {
    let clean = try measure("delay=300")
    let torn = try measure("delay=300,xrun-at=0.8,xrun-at=1.5,xrun-at=3")
    #expect(torn.rejected >= 2)
    #expect(torn.main?.frames.count == clean.main?.frames.count)
    for frames in torn.main?.frames ?? [] { #expect(abs(frames - 812) < 0.001) }
  }

  @Test func `no round trip is found without a wire`() throws {
    let trips = try measure("gain=-200,noise=-50")
    #expect(trips.pairs.isEmpty)
    #expect(trips.levelDBFS == -12)
  }

  @Test func `no round trip is found between unconnected channels`() throws {
    let trips = try measure("delay=10") {
      $0.fromChannel = 0
      $0.toChannel = 1
    }
    #expect(trips.pairs.isEmpty)
  }

  @Test func `an invalid plan ends the program with a message`() async {
    func says(_ sentence: String, _ result: ExitTest.Result?) {
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("Fatal error: " + sentence), "\(text)")
    }
    says(
      "A probe can only use channels that the unit has, counted from 0.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        begin { $0.toChannel = 2 }
      })
    says(
      "A probe can only use channels that the unit has, counted from 0.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        begin { $0.fromChannel = -1 }
      })
    says(
      "A probe needs a level of at most 0 dBFS, and one measurement or more.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        begin { $0.levelCapDBFS = .nan }
      })
    says(
      "A probe needs a rate, a period, and channels of an input and an output.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free")
        let device = try SimulatedDevice(
          wire, request: DuplexRequest(captureDevice: "sim", playbackDevice: nil))
        _ = ProbeSession(ProbePlan(device.configuration), periodFrames: 256)
      })
    says(
      "A probe has at most 768000 Hz, 16777216 frames in a period, and 1024 channels each way.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        begin { $0.sampleRate = .max }
      })
    let limits =
      "A probe has at most 10000 measurements, and a unit with a latency of 0 to 16777216 frames.\n"
    says(
      limits,
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        begin { $0.repeats = .max }
      })
    says(
      limits,
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        begin { $0.unitLatencyFrames = .infinity }
      })
  }
}

/// Begins a measurement with a changed plan.
private func begin(_ change: (inout ProbePlan) -> Void) {
  var plan = ProbePlan(
    sampleRate: 48000, captureChannels: 2, playbackChannels: 2, unitLatencyFrames: 0)
  change(&plan)
  _ = ProbeSession(plan, periodFrames: 256)
}

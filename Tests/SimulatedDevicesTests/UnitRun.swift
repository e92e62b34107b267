import AudioBasics
import AudioDevices
import RealtimeAudio
import SimulatedDevices

/// A run of a real unit on simulated devices.
struct UnitRun {
  /// The options of the simulated devices.
  var settings = ""
  /// The device whose clock the unit follows, of two with two clocks.
  var master = ClockMaster.playback
  /// The microphone's signal by captured frame, of two devices with two clocks.
  var feeding: [Float] = []
  /// The played signal by timeline frame.
  var playing: [Float] = []
  /// The length of the run.
  var frames: Int
  var period = 64
  var headroom: Int?
  var periods = 2
  var format = SampleFormat.floatLE
  /// The number of channels; two devices with two clocks always have one.
  var channels = 2
  var directions = (capture: true, playback: true)
  var resamplerQuality = 5
  var reconnects = false
  /// The frame at which a stop is requested.
  var stoppingAt: Int?

  private func name(_ first: String) -> String {
    settings.isEmpty ? first : first + "," + settings
  }

  private func request(_ name: String) -> DuplexRequest {
    var request = DuplexRequest(
      captureDevice: directions.capture ? name : nil,
      playbackDevice: directions.playback ? name : nil)
    request.periodFrames = period
    request.headroomFrames = headroom
    request.periods = periods
    request.format = format
    request.channelCount = channels
    request.resamplerQuality = resamplerQuality
    return request
  }

  /// Runs one device, whose microphone delivers what `feeder` reads.
  func run(feeder: consuming SampleReader? = nil) throws -> UnitResult {
    let name = name("sim:clock=free")
    var specification = try SimulatedDeviceSpecification(parsing: name)
    if channels == 1 { specification.channelCount = 1 }
    return try run(
      on: DuplexDevice(
        SimulatedDevice(specification, request: request(name), microphone: feeder)))
  }

  /// Runs two devices with two clocks.
  func runOnTwoClocks() throws -> UnitResult {
    var run = self
    run.channels = 1
    let name = name("sim:clock=free,channels=1")
    let request = run.request(name)
    let pair: DevicePair
    let specification = try SimulatedDeviceSpecification(parsing: name)
    if feeding.isEmpty {
      pair = try DevicePair(simulating: specification, request: request)
    } else {
      pair = try DevicePair(
        simulating: specification, request: request, microphone: reader(of: feeding))
    }
    return try run.run(on: DuplexDevice(AsynchronousPair(pair, request: request, master: master)))
  }

  /// Runs any device. `examine` is called before the device is stopped.
  func run(
    on device: consuming DuplexDevice, examine: (DuplexConfiguration) -> Void = { _ in }
  ) throws -> UnitResult {
    let progress = UnitProgress()
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    var unit = DuplexUnit(
      device: device,
      callbacks: PlayAndCapture(
        signal: playing, frames: frames, periodFrames: period, channelCount: channels),
      progress: progress, events: writer, frameLimit: frames, reconnects: reconnects)
    var result = UnitResult(configuration: unit.configuration)
    try unit.start()
    if let stoppingAt {
      while progress.frames < stoppingAt { _ = unit.cycle() }
      progress.requestStop()
    }
    result.failure = unit.run()
    examine(unit.configuration)
    unit.stop()
    while let event = reader.read() { result.events.append(event) }
    for frame in 0..<frames {
      result.heard.append(unit.callbacks.heard[frame * channels])
      result.other.append(unit.callbacks.heard[frame * channels + channels - 1])
    }
    result.gaps = unit.callbacks.gaps
    result.playTimes = unit.callbacks.playTimes
    result.times = unit.callbacks.times
    result.frames = progress.frames
    result.lostFrames = progress.lostFrames
    result.drift = progress.drift
    result.captureXruns = progress.captureXruns
    result.playbackXruns = progress.playbackXruns
    result.secondaryOutputs = progress.secondaryOutputs
    return result
  }
}

/// The result of a run of a unit.
struct UnitResult {
  let configuration: DuplexConfiguration
  /// The samples of the first channel that the unit's input delivered, by timeline frame, and those
  /// of the last channel.
  var heard: [Float] = []
  var other: [Float] = []
  var events: [TimelineEvent] = []
  var frames = 0
  var lostFrames = 0
  /// The frames at which the gaps end.
  var gaps: [Int] = []
  var failure: DeviceFailure?
  var times: [UInt64] = []
  var playTimes: [UInt64] = []
  var drift: DriftReading?
  var captureXruns = 0
  var playbackXruns = 0
  var secondaryOutputs: [SecondaryOutputReading] = []
  var xruns: Int { captureXruns + playbackXruns }

  init(configuration: DuplexConfiguration) {
    self.configuration = configuration
  }
}

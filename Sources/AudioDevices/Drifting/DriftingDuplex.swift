import AudioBasics
import AudioClocks
import RealtimeAudio

/// Two devices with two clocks, made to look like one duplex device.
///
/// One of them gives the time, the master: its frames are the unit's. Those of the other are
/// resampled to it, by a ratio that follows both clocks. From input to output it takes the period
/// and the headroom of any duplex device, one period more because the input's periods come when
/// they like, and the converter's reach. That delay is the same at every start and after every
/// xrun, and it is part of the configuration's latency.
///
/// If one device stops for a moment the other goes on. With the output as master a missing input
/// is heard as silence; with the input as master a missing output is heard by nobody.
public struct DriftingDuplex<Pair: DevicePair & ~Copyable>: DuplexDevice, ~Copyable {
  /// What was granted. Both streams have the unit's rate, to which they are brought.
  public let configuration: DuplexConfiguration
  /// When the last cycle began.
  public internal(set) var periodTime: UInt64 = 0

  var pair: Pair
  let master: ClockMaster
  let shape: DuplexShape
  var bridge: ClockBridge
  /// Unit frames for one of the input's.
  let lossScale: Double
  let capturePeriod: Int
  let playbackPeriod: Int

  /// Where the next frame that the input lends lies on its clock, gaps included, and where its
  /// last start lay.
  var head = 0
  var captureStart = 0
  /// Frames that the input has now, and room that the output has.
  var captured = 0
  var room = 0
  /// Whether the input was started and has not delivered anything yet.
  var isBeginning = true
  /// When the input last came too late for its cycle, and whether the unit is still to be told.
  var lateSince: UInt64 = 0
  var isLateUntold = false
  /// Captured frames that were taken from the input and not yet converted.
  var staged: SampleBuffer
  var stagedFirst = 0
  var stagedPlace = 0
  var stagedCount = 0
  /// A period of the unit's, on its way in or out.
  var unitFrames: SampleBuffer
  var delivered: DeviceBuffer
  var converted: SampleBuffer

  var isCaptureBroken = false
  var isPlaybackBroken = false
  var lostFrames = 0
  /// Frames of the input that were lost and are heard as silence, and whether its gap, when it is
  /// known, counts as such.
  var bridgedFrames = 0
  var isGapBridged = false
  /// When the input last had something new.
  var lastCapture: UInt64 = 0
  /// Whether this cycle's input was made already.
  var isDelivered = false

  /// Makes one device of `pair`, as `request` asks, with the clock of `master`.
  public init(_ pair: consuming Pair, request: DuplexRequest, master: ClockMaster) {
    let capture = pair.captureStream
    let playback = pair.playbackStream
    let rate = master == .capture ? capture.sampleRate : playback.sampleRate
    let granted = request.atRate(rate)
    let period = master == .capture ? capture.periodFrames : playback.periodFrames
    let headroom = request.headroomFrames == nil ? period : granted.headroom
    let pace = Double(rate) / Double(capture.sampleRate)
    let quality = ConversionQuality(resamplerQuality: request.resamplerQuality)
    let channelCount =
      master == .capture ? playback.channelCount : capture.channelCount
    // The reach is not known before the converter is made, and the delay is not without it.
    let reach = Double(quality.reach(of: capture.sampleRate, to: playback.sampleRate))
    let extra = ((reach + Double(capture.periodFrames)) * pace).rounded(.up)
    let delay = (Double(period + headroom) + extra) / Double(rate)
    var configuration = DuplexConfiguration(
      sampleRate: rate, periodFrames: period, headroomFrames: headroom, capture: capture,
      playback: playback)
    configuration.capture?.sampleRate = rate
    configuration.playback?.sampleRate = rate
    configuration.isResampling = true
    configuration.resamplerDelayFrames = extra
    configuration.master = master
    let outputPeriod = Int(
      (Double(period) * Double(playback.sampleRate) / Double(rate)).rounded(.up))
    self.configuration = configuration
    self.master = master
    shape = DuplexShape(configuration)
    lossScale = pace
    capturePeriod = capture.periodFrames
    playbackPeriod = playback.periodFrames
    bridge = ClockBridge(
      channelCount: channelCount, inputRate: capture.sampleRate, outputRate: playback.sampleRate,
      delaySeconds: delay, quality: quality)
    staged = SampleBuffer(
      frameCount: capture.periodFrames, channelCount: capture.channelCount)
    unitFrames = SampleBuffer(frameCount: period, channelCount: channelCount)
    delivered = DeviceBuffer(format: .floatLE, channelCount: channelCount, frameCount: period)
    converted = SampleBuffer(frameCount: outputPeriod + 64, channelCount: channelCount)
    self.pair = pair
  }

  /// The time that both devices' clocks are measured in, in nanoseconds.
  public var now: UInt64 { pair.now }
  /// When the last cycle began.
  public var readyTime: UInt64 { periodTime }
  /// What the delay is held at.
  public var claimedLatencyFrames: Int { Int(configuration.latencyFrames + 0.5) }
  /// How the two clocks are held together.
  public var drift: DriftReading? { bridge.reading(at: pair.now) }

  /// Gets both devices going.
  public mutating func start() throws(DeviceFailure) {
    head = 0
    stagedCount = 0
    try startPlayback()
    try startCapture()
  }

  /// Frames of silence with which the output begins: what the first cycle finds queued.
  private var silenceFrames: Int {
    let unit = shape.periodFrames + shape.headroomFrames
    let scale = Double(pair.playbackStream.sampleRate) / Double(configuration.sampleRate)
    // With the input as master the output is not filled before the first period is converted.
    let more = master == .capture ? configuration.resamplerDelayFrames : 0
    return Int((Double(unit) + more) * scale)
  }

  mutating func startPlayback() throws(DeviceFailure) {
    let silence = silenceFrames
    try pair.start(.playback, silence: silence)
    bridge.restartOutput(queued: silence)
    isPlaybackBroken = false
  }

  mutating func startCapture() throws(DeviceFailure) {
    isBeginning = true
    try pair.start(.capture, silence: 0)
    isCaptureBroken = false
    lastCapture = pair.now
  }

  /// Frames lost since the last cycle; asked once, then 0.
  public mutating func takeLostFrames() -> Int {
    defer { lostFrames = 0 }
    return lostFrames
  }

  /// Frames of the input that were lost since the last cycle and are heard as silence.
  public mutating func takeBridgedFrames() -> Int? {
    guard !isBeginning || !isGapBridged else { return nil }
    defer { bridgedFrames = 0 }
    return bridgedFrames
  }

  /// Starts anew what stands; the other goes on.
  public mutating func recover() throws(DeviceFailure) {
    if isCaptureBroken { isGapBridged = master == .playback && !isPlaybackBroken }
    if isPlaybackBroken { try startPlayback() }
    if isCaptureBroken { try startCapture() }
  }

  /// Lets go of both devices.
  public mutating func letGo() { pair.letGo() }

  /// Waits for both devices for a tenth of a second.
  public mutating func awaitReturn() -> DeviceReturn {
    let found = pair.awaitReturn()
    guard case .returned = found else { return found }
    do throws(DeviceFailure) {
      let away = Double(pair.now &- periodTime) * 1e-9 * Double(configuration.sampleRate)
      isCaptureBroken = true
      isPlaybackBroken = true
      try recover()
      // The input's own clock tells it better.
      if master == .playback { lostFrames = Int(away) }
      return found
    } catch {
      pair.letGo()
      return error.kind == .notFound || error.kind == .lost ? .absent : .refused(error)
    }
  }

  /// Stops both.
  public mutating func stop(draining: Bool) { pair.stop() }
}

extension ConversionQuality {
  /// The quality that a number from 0 to 10, as the other converter has it, stands for.
  init(resamplerQuality number: Int) {
    self = number < 3 ? .quick : number < 8 ? .standard : .fine
  }

  /// Input frames that a converter between these rates looks ahead.
  func reach(of inputRate: Int, to outputRate: Int) -> Int {
    let ratio = Double(inputRate) / Double(outputRate)
    var probe = VariableRateConverter(
      channelCount: 1, maximumInputPerOutput: max(1, ratio * 1.01), quality: self)
    probe.setRatio(ratio)
    return probe.reachFrames
  }
}

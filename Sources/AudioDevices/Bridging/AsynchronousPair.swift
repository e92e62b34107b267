import AudioBasics
import AudioClocks
import RealtimeAudio

/// Two devices with a clock each: one captures, one plays. Created on the thread that opens the
/// devices, and moved from there.
public struct DevicePair: ~Copyable {
  /// The device that captures.
  public var capture: DeviceStream
  /// The device that plays.
  public var playback: DeviceStream
  /// The time by which both devices are driven.
  public var time: DeviceTime

  /// Creates a pair that is driven by `time`.
  public init(
    capture: consuming DeviceStream, playback: consuming DeviceStream, time: DeviceTime
  ) {
    self.capture = capture
    self.playback = playback
    self.time = time
  }
}

/// Two devices with two clocks that act as one duplex device.
///
/// One of them is the clock master: its frames are the unit's frames. The frames of the other
/// device are resampled to its clock, at a ratio that follows both clocks (`ClockDomainBridge`).
/// The delay from input to output is the period and the headroom of any duplex device, plus the
/// converter's reach. With the output as master it is one period longer, because the input's
/// periods are not aligned with the output's. The delay is the same at every start and after every
/// xrun, and it is part of the configuration's latency.
///
/// If one device stops, stalls or goes away, the other continues, and the clock of the missing
/// device is extrapolated. A missing input is replaced by silence; the frames for a missing output
/// are dropped. A device that is back is muted until its clock is known. The delay is then the same
/// as before.
public struct AsynchronousPair: DuplexDriver, ~Copyable {
  /// The function that the audio thread calls.
  public static let function: DriverFunction = callAsynchronousPair
  /// The configuration that was granted. Both streams have the unit's rate, to which they are
  /// converted.
  public let configuration: DuplexConfiguration
  /// The time at which the last cycle began, in nanoseconds.
  var periodTime: UInt64 = 0

  var capture: DeviceStream
  var time: DeviceTime
  /// Whether the output is the clock master, rather than the input.
  let isPlaybackMaster: Bool
  let shape: DuplexShape
  var bridge: ClockDomainBridge
  var output: AsynchronousOutput
  /// The number of unit frames for one frame of the input.
  let unitPerCapture: Double
  let capturePeriod: Int
  /// The part of the delay that allows for an input that delivers its frames in steps.
  var arrival: ArrivalDelay
  let minimumArrivalFrames: Int
  /// The delay according to the configuration, in frames.
  let configuredLatencyFrames: Double
  /// The number of frames by which that part makes the delay longer than the configuration states.
  var addedFrames = 0

  /// The number of frames since the output last played what it received, if it plays silence
  /// because its clock is not known.
  var mutedFrames = 0

  /// The positions on the input's clock, gaps included, of the next frame that the input lends and
  /// of the input's last start.
  var head = 0
  var captureStart = 0
  /// The number of frames that the input has available.
  var captured = 0
  /// The number of input frames that must still be discarded, because silence was delivered in
  /// their place.
  var repeatedFrames = 0
  /// Whether the input was started and has not delivered frames yet, and the time of its first
  /// frames.
  var isBeginning = true
  var begunTime: UInt64 = 0
  /// The correct position of the input at that time, on its clock before the gap, and the number of
  /// frames by which it was placed too far ahead.
  var correctPosition: Double?
  var positionError = 0.0
  var inputStallDetector: StallDetector
  /// The time at which the input was last too late for its cycle, and whether that must still be
  /// reported to the unit.
  var lateSince: UInt64 = 0
  var isLatenessUnreported = false
  /// The captured frames that were read from the input and are not converted yet.
  var staged: SampleBuffer
  var stagedFirst = 0
  var stagedPosition = 0
  var stagedCount = 0
  /// One period of the unit's frames, captured or to be played. It is lent to the unit without a
  /// copy.
  var unitFrames: SampleBuffer
  var inputGain = SmoothedGain(.unity)

  var isCaptureBroken = false
  var lostFrames = 0
  /// The number of input frames replaced by silence since the last report to the unit, and whether
  /// the gap that is still open will be added to it.
  var concealedFrames = 0
  var isGapConcealed = false
  /// Whether the input frames of this cycle are already converted.
  var isDelivered = false

  /// Whether the pair searches for a lost device while the other one continues.
  var survivesDeviceLoss = false
  var isInputAway = false
  /// The position of the input when it went away, and the number of frames of silence delivered in
  /// its place.
  var disconnectFrame: Int?
  var silentFrames = 0
  /// The events of either device that must still be reported to the unit.
  var captureEvent: DeviceEvent?
  var playbackEvent: DeviceEvent?
  /// The silence that is delivered if the input is the master and is away.
  let silentBuffer: DeviceBuffer

  /// Creates one device from `pair` for `request`, with the clock of `master`.
  public init(_ pair: consuming DevicePair, request: DuplexRequest, master: ClockMaster) {
    let capture = pair.capture.configuration
    let playback = pair.playback.configuration
    let rate = master == .capture ? capture.sampleRate : playback.sampleRate
    let granted = request.atRate(rate)
    let period = master == .capture ? capture.periodFrames : playback.periodFrames
    let headroom = request.headroomFrames == nil ? period : granted.headroom
    let unitPerCapture = Double(rate) / Double(capture.sampleRate)
    let quality = ConversionQuality(resamplerQuality: request.resamplerQuality)
    let channelCount =
      master == .capture ? playback.channelCount : capture.channelCount
    // The delay depends on the reach, which must be known before the converter is created.
    let reach = Double(quality.reach(of: capture.sampleRate, to: playback.sampleRate))
    // An input that is the master begins each cycle itself.
    let unaligned = master == .playback ? capture.periodFrames : 0
    let extra = ((reach + Double(unaligned)) * unitPerCapture).rounded(.up)
    // The delay also allows for an input that is late by half of the headroom.
    let minimum = unaligned + Int(clamping: Double(headroom) / unitPerCapture) / 2
    arrival = ArrivalDelay(
      minimumFrames: minimum, maximumFrames: max(minimum, capture.bufferFrames / 2))
    minimumArrivalFrames = minimum
    let delay = (Double(period + headroom) + extra) / Double(rate)
    var configuration = DuplexConfiguration(
      sampleRate: rate, periodFrames: period, headroomFrames: headroom, capture: capture,
      playback: playback)
    configuration.capture?.sampleRate = rate
    configuration.playback?.sampleRate = rate
    configuration.isResampling = true
    configuration.resamplerDelayFrames = extra
    configuration.master = master
    self.configuration = configuration
    isPlaybackMaster = master == .playback
    shape = DuplexShape(configuration)
    configuredLatencyFrames = configuration.latencyFrames
    self.unitPerCapture = unitPerCapture
    capturePeriod = capture.periodFrames
    inputStallDetector = StallDetector(
      periodFrames: capture.periodFrames, sampleRate: capture.sampleRate)
    let scale = Double(playback.sampleRate) / Double(rate)
    // If the input is the master, the output is not filled before the first period is converted.
    let queued = Double(period + headroom) + (master == .capture ? extra : 0)
    // A server's output must not run dry before its quantum is known; PulseAudio takes 4,096 frames
    // at once when it starts. The initial silence is not part of the delay.
    let reserve =
      playback.isServer
      ? min(playback.sampleRate / 8, playback.bufferFrames - playback.periodFrames) : 0
    let first = max(Int(clamping: queued * scale), reserve)
    output = AsynchronousOutput(
      pair.playback, silence: first, minimumQueuedFrames: Double(headroom) * scale)
    silentBuffer = DeviceBuffer(
      format: capture.format, channelCount: capture.channelCount, frameCount: period)
    bridge = ClockDomainBridge(
      channelCount: channelCount, inputRate: capture.sampleRate, outputRate: playback.sampleRate,
      delaySeconds: delay, quality: quality)
    staged = SampleBuffer(
      frameCount: capture.periodFrames, channelCount: capture.channelCount)
    unitFrames = SampleBuffer(frameCount: period, channelCount: channelCount)
    self.capture = pair.capture
    time = pair.time
  }

  /// Starts both devices. Throws if one of them does not start.
  public mutating func start() throws(DeviceFailure) {
    head = 0
    stagedCount = 0
    try output.start(&bridge, at: time.now)
    try startCapture()
  }

  private mutating func startCapture() throws(DeviceFailure) {
    let now = time.now
    try capture.start(silence: 0, at: now)
    beginInput(at: now)
  }

  /// Starts the device that stopped; the other one continues. Throws if it cannot be started again.
  public mutating func recover() throws(DeviceFailure) {
    if isCaptureBroken { isGapConcealed = isPlaybackMaster && !output.isBroken }
    do throws(DeviceFailure) {
      if output.isBroken { try output.start(&bridge, at: time.now) }
    } catch {
      guard survivesDeviceLoss else { throw error }
      handleOutputLoss()
    }
    do throws(DeviceFailure) {
      if isCaptureBroken { try startCapture() }
    } catch {
      guard survivesDeviceLoss else { throw error }
      handleInputLoss()
    }
  }

  /// Enables the search for a lost device while the other one continues.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {
    survivesDeviceLoss =
      capture.enableReconnection(reportingTo: news) && output.enableReconnection(reportingTo: news)
  }

  /// Stops both devices. Called only if the pair cannot continue.
  public mutating func close() { stop(draining: false) }

  /// Returns a refusal after 100 ms: the thread that would search for the devices could not be
  /// started.
  public mutating func pollForReconnection() -> DeviceReturn {
    time.sleep(until: time.now &+ 100_000_000)
    return .refused(.noThread(waitingFor: configuration.deviceNames))
  }

  /// Stops both devices.
  public mutating func stop(draining: Bool) {
    capture.stop()
    output.stop()
  }
}

extension ConversionQuality {
  /// Creates the quality for a number from 0 to 10, the scale of speexdsp's resampler.
  init(resamplerQuality number: Int) {
    self = number < 3 ? .quick : number < 8 ? .standard : .fine
  }

  /// Returns the number of input frames that a converter between these rates looks ahead.
  func reach(of inputRate: Int, to outputRate: Int) -> Int {
    let ratio = Double(inputRate) / Double(outputRate)
    var probe = VariableRateConverter(
      channelCount: 1, maximumInputPerOutput: max(1, ratio * 1.01), quality: self)
    probe.setRatio(ratio)
    return probe.reachFrames
  }
}

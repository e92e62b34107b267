import AudioBasics
import AudioClocks
import RealtimeAudio

/// Two devices with a clock each: one captures, one plays.
/// Made on the thread that opens the devices, and moved from there.
public struct DevicePair: ~Copyable {
  /// The one that captures.
  public var capture: DeviceStream
  /// The one that plays.
  public var playback: DeviceStream
  /// The time that both are driven by.
  public var time: DeviceTime

  /// A pair that is driven by `time`.
  public init(
    capture: consuming DeviceStream, playback: consuming DeviceStream, time: DeviceTime
  ) {
    self.capture = capture
    self.playback = playback
    self.time = time
  }
}

/// Two devices with two clocks, made to look like one duplex device.
///
/// One of them gives the time, the master: its frames are the unit's. Those of the other are
/// resampled to it, by a ratio that follows both clocks (`ClockDomainBridge`). The delay from input
/// to output is the period and the headroom of any duplex device, and the converter's reach; with
/// the output as master one period more, because the input's periods are not aligned with the
/// output's. It is the same at every start and after every xrun, and it is part of the
/// configuration's latency.
///
/// If one device stops, stalls or goes away, the other goes on, and the clock of the missing one is
/// extrapolated. A missing input is silence; what a missing output should play is dropped. A device
/// that is back is muted until its clock is known, and the delay is what it was.
public struct AsynchronousPair: DuplexDriver, ~Copyable {
  /// What the audio thread calls.
  public static let function: DriverFunction = callAsynchronousPair
  /// What was granted. Both streams have the unit's rate, to which they are brought.
  public let configuration: DuplexConfiguration
  /// When the last cycle began.
  var periodTime: UInt64 = 0

  var capture: DeviceStream
  var time: DeviceTime
  /// Whether the output gives the time, rather than the input.
  let isPlaybackMaster: Bool
  let shape: DuplexShape
  var bridge: ClockDomainBridge
  var output: AsynchronousOutput
  /// Unit frames for one of the input's.
  let unitPerCapture: Double
  let capturePeriod: Int
  /// What the delay allows for an input that delivers its frames in steps.
  var arrival: ArrivalDelay
  let leastArrivalFrames: Int
  /// What the configuration says of the delay, in frames.
  let configuredLatencyFrames: Double
  /// Frames by which the delay is longer for that than the configuration says.
  var addedFrames = 0

  /// Where the next frame that the input lends lies on its clock, gaps included, and where its
  /// last start lay.
  var head = 0
  var captureStart = 0
  /// Frames that the input has now.
  var captured = 0
  /// Frames that the input is still to be relieved of, as silence was delivered in their place.
  var repeatedFrames = 0
  /// Whether the input was started and has not delivered anything yet, and when it did.
  var isBeginning = true
  var begunTime: UInt64 = 0
  /// Where the input should have been at that time, on its clock before the gap, and by how many
  /// frames it was placed further on.
  var rightPlace: Double?
  var placeError = 0.0
  var inputStallDetector: StallDetector
  /// When the input last came too late for its cycle, and whether the unit is still to be told.
  var lateSince: UInt64 = 0
  var isLateUntold = false
  /// Captured frames that were taken from the input and not yet converted.
  var staged: SampleBuffer
  var stagedFirst = 0
  var stagedPlace = 0
  var stagedCount = 0
  /// A period of the unit's, on its way in or out: lent to it as it is.
  var unitFrames: SampleBuffer
  var inputGain = SmoothedGain(.unity)

  var isCaptureBroken = false
  var lostFrames = 0
  /// Input frames replaced by silence since the unit was last told; and whether the gap that is
  /// still open will be added to them.
  var concealedFrames = 0
  var isGapConcealed = false
  /// Whether this cycle's input was made already.
  var isDelivered = false

  /// Whether a device that is lost is waited for while the other goes on.
  var outlivesLoss = false
  var isInputAway = false
  /// Where the input was when it went away, and frames of silence delivered in its place.
  var awayHead: Int?
  var silentFrames = 0
  /// What the unit is still to be told of either side.
  var captureEvent: DeviceEvent?
  var playbackEvent: DeviceEvent?
  /// What the input delivers where it is away and gives the time.
  let silentBuffer: DeviceBuffer

  /// Makes one device of `pair`, as `request` asks, with the clock of `master`.
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
    // The reach is not known before the converter is made, and the delay is not without it.
    let reach = Double(quality.reach(of: capture.sampleRate, to: playback.sampleRate))
    // An input that gives the time begins each cycle itself.
    let unaligned = master == .playback ? capture.periodFrames : 0
    let extra = ((reach + Double(unaligned)) * unitPerCapture).rounded(.up)
    // An input that is late by half of the headroom is allowed for as well.
    let least = unaligned + Int(clamping: Double(headroom) / unitPerCapture) / 2
    arrival = ArrivalDelay(leastFrames: least, mostFrames: max(least, capture.bufferFrames / 2))
    leastArrivalFrames = least
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
    // With the input as master the output is not filled before the first period is converted.
    let queued = Double(period + headroom) + (master == .capture ? extra : 0)
    // A server's output must not run dry before its quantum is known. What it begins with is no
    // part of the delay.
    let first = max(Int(clamping: queued * scale), playback.isServer ? playback.sampleRate / 20 : 0)
    output = AsynchronousOutput(
      pair.playback, silence: first, leastQueuedFrames: Double(headroom) * scale)
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

  /// Gets both devices going. Throws where one does not start.
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

  /// Starts the device that stopped; the other goes on. Throws where it cannot be started again.
  public mutating func recover() throws(DeviceFailure) {
    if isCaptureBroken { isGapConcealed = isPlaybackMaster && !output.isBroken }
    do throws(DeviceFailure) {
      if output.isBroken { try output.start(&bridge, at: time.now) }
    } catch {
      guard outlivesLoss else { throw error }
      loseOutput()
    }
    do throws(DeviceFailure) {
      if isCaptureBroken { try startCapture() }
    } catch {
      guard outlivesLoss else { throw error }
      loseInput()
    }
  }

  /// One that is lost is looked for while the other goes on.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) {
    outlivesLoss =
      capture.enableReconnection(telling: news) && output.enableReconnection(telling: news)
  }

  /// Stops both: asked for only where the pair cannot go on.
  public mutating func close() { stop(draining: false) }

  /// Neither can be found again: that would have taken a thread that could not be made.
  public mutating func pollForReconnection() -> DeviceReturn {
    time.sleep(until: time.now &+ 100_000_000)
    return .refused(.noThread(waitingFor: configuration.deviceNames))
  }

  /// Stops both.
  public mutating func stop(draining: Bool) {
    capture.stop()
    output.stop()
  }
}

extension ConversionQuality {
  /// The quality for a number from 0 to 10, by which speexdsp's resampler names its own.
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

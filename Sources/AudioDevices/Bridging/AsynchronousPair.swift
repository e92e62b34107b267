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
/// xrun, and it is part of the configuration's latency. It grows only if the input delivers its
/// frames in steps larger than its period (`DriftReading.addedFrames`).
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

  var time: DeviceTime
  /// Whether the output is the clock master, rather than the input.
  let isPlaybackMaster: Bool
  let shape: DuplexShape
  var bridge: ClockDomainBridge
  var input: AsynchronousInput
  var output: AsynchronousOutput
  /// The number of frames since the output last played what it received, if it plays silence
  /// because its clock is not known.
  var mutedFrames = 0

  /// Whether the input has frames that its server kept while the program was paused, and the output
  /// is silent.
  var hasKeptFrames = false

  /// One period of the unit's frames, captured or to be played. It is lent to the unit without a
  /// copy.
  var unitFrames: SampleBuffer
  var inputGain = SmoothedGain(.unity)
  /// Whether the input frames of this cycle are already converted.
  var isDelivered = false

  /// Whether the pair searches for a lost device while the other one continues.
  var survivesDeviceLoss = false
  /// The event of the output that must still be reported to the unit.
  var playbackEvent: DeviceEvent?

  /// Creates one device from `pair` for `request`, with the clock of `master`.
  public init(_ pair: consuming DevicePair, request: DuplexRequest, master: ClockMaster) {
    let capture = pair.capture.configuration
    let playback = pair.playback.configuration
    let timing = PairTiming(capture, playback, request, master: master)
    let resampled = master == .capture ? playback : capture
    configuration = timing.configuration
    isPlaybackMaster = master == .playback
    shape = DuplexShape(configuration)
    output = AsynchronousOutput(
      pair.playback, silence: timing.silenceFrames,
      minimumQueuedFrames: timing.minimumQueuedFrames)
    input = AsynchronousInput(
      pair.capture, isMaster: master == .capture, shape,
      latencyFrames: configuration.latencyFrames, arrivalFrames: timing.arrivalFrames)
    bridge = ClockDomainBridge(
      channelCount: resampled.channelCount, inputRate: capture.sampleRate,
      outputRate: playback.sampleRate, delaySeconds: timing.delaySeconds, quality: timing.quality)
    unitFrames = SampleBuffer(
      frameCount: configuration.periodFrames, channelCount: resampled.channelCount)
    time = pair.time
  }

  /// Starts both devices. Throws if one of them does not start.
  public mutating func start() throws(DeviceFailure) {
    try output.start(&bridge, at: time.now)
    try input.start(at: time.now)
  }

  /// Starts the device that stopped; the other one continues. Throws if it cannot be started again.
  public mutating func recover() throws(DeviceFailure) {
    // An output that continues plays silence in place of the input's frames.
    let isGapConcealed = isPlaybackMaster && !output.needsRestart
    do throws(DeviceFailure) {
      if output.needsRestart { try output.start(&bridge, at: time.now) }
    } catch {
      guard survivesDeviceLoss else { throw error }
      handleOutputLoss()
    }
    do throws(DeviceFailure) {
      if input.needsRestart { try input.restart(at: time.now, isGapConcealed: isGapConcealed) }
    } catch {
      guard survivesDeviceLoss else { throw error }
      input.detach()
    }
  }

  /// Enables the search for a lost device while the other one continues.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {
    survivesDeviceLoss =
      input.enableReconnection(reportingTo: news) && output.enableReconnection(reportingTo: news)
  }

  /// Stops both devices. Called only if the pair cannot continue.
  public mutating func close() { stop(draining: false) }

  /// Returns a refusal after 100 ms: the thread that would search for the devices could not be
  /// started.
  public mutating func pollForReconnection() -> DeviceReturn {
    time.sleep(until: time.now &+ 100_000_000)
    return .refused(.noThread(waitingFor: configuration.deviceNames))
  }

  /// Stops both devices, after their searches were told to end: one of them could begin to open its
  /// device while the other device is closed.
  public mutating func stop(draining: Bool) {
    input.endReconnection()
    output.endReconnection()
    input.stop()
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

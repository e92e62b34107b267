// Audio thread.

import AudioBasics
import AudioDevices
import RealtimeAudio

/// A duplex device without hardware: a simulated wire returns the played frames to the microphone.
///
/// The frames that a callback plays in a cycle for frame i are played at output frame i + P + H,
/// and captured `delay` frames later: a round trip takes exactly P + H + delay frames. Positions
/// are kept through every xrun, so frame m of the timeline is always frame m of the device.
///
/// - On the real clock, the capture side runs at the rate times 1 + drift, the output at the rate.
///   On the free clock, `wait` never sleeps, the time is that of the captured frames, and a cycle
///   takes no time.
/// - A scheduled overrun loses the frames after the last cycle before its time.
/// - While the device is unplugged, `wait` reports `lost` (and time advances by a period) until
///   `pollForReconnection` finds it plugged in again; on the free clock, at exactly that frame.
/// - Without input nothing is captured: `delay`, `gain`, `noise` and `xrun-at` have no effect.
///
/// ```swift
/// let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free,delay=10")
/// let device = try SimulatedDevice(
///   wire, request: DuplexRequest(captureDevice: "sim", playbackDevice: "sim"))
/// precondition(device.configuration.sampleRate == 48000)
/// ```
public struct SimulatedDevice: DuplexDriver, ~Copyable, Sendable {
  /// The function that the audio thread calls.
  public static let function: DriverFunction = callSimulatedDevice
  /// The configuration that was granted. Its rate is the specification's.
  public let configuration: DuplexConfiguration
  /// The time in nanoseconds at which the newest captured frame was complete, without the jitter of
  /// a wake-up.
  private var periodTime: UInt64 = 0

  private let shape: DuplexShape
  private let isRealTime: Bool
  private var clock: DeviceClock
  private var playedHistory: PlayedHistoryRing
  private var microphone: CaptureSignal
  private var room: DeviceBuffer
  private var scheduledFaults: ScheduledFaults
  /// The position of the next cycle: the number of frames captured and released, and of those lost.
  private var taken = 0
  /// The number of output frames played when the last period was found.
  private var played = 0
  /// Without input: whether the device runs, and the played frame at which the next period is due.
  private var isStarted = false
  private var due = 0
  private var isUnplugged = false
  private var isOverrunScripted = false
  /// Whether the output ran dry in the middle of a cycle.
  private var isRunDry = false
  private var lostFrames = 0

  /// Opens the device that `specification` describes for `request`: it captures if the request
  /// names an input, and plays if it names an output.
  ///
  /// The rate is the specification's, whatever the request contains: compare
  /// `configuration.sampleRate`. The frames that `microphone` reads are captured as well, at the
  /// device's rate and with as many channels as the device has (`SimulatedChannels`). Frames that
  /// are not queued in time are silence, so on the free clock enough of them must be queued in
  /// advance. Throws if the request is out of range, or the device does not have the requested
  /// channels.
  public init(
    _ specification: SimulatedDeviceSpecification, request: DuplexRequest,
    microphone: consuming SampleReader? = nil
  ) throws(DeviceFailure) {
    try request.validate()
    try specification.validate()
    let channels = try SimulatedChannels(specification, for: request)
    try channels.check(microphone?.channelCount)
    let configuration = channels.configuration(specification, request)
    let shape = DuplexShape(configuration)
    let stream = configuration.capture ?? configuration.playback
    let channelCount = stream?.deviceChannelCount ?? 1
    let format = stream?.format ?? .floatLE
    let period = shape.periodFrames
    var effective = specification
    // The output's clock is exact. An output without input has nothing to drift against.
    if !shape.hasCapture { effective.driftPPM = 0 }
    let memory =
      Int(clamping: effective.delayFrames) + shape.captureBufferFrames + shape.playbackBufferFrames
      + 2 * (period + Interpolator.fullHalfWidth)
    self.configuration = configuration
    self.shape = shape
    isRealTime = effective.clock == .real
    clock = DeviceClock(
      isFree: effective.clock == .free, sampleRate: effective.sampleRate,
      rateRatio: 1 + effective.driftPPM * 1e-6)
    playedHistory = PlayedHistoryRing(
      frameCount: shape.hasPlayback ? memory : 1, channelCount: channelCount, periodFrames: period)
    self.microphone = CaptureSignal(
      loopback: LoopbackPath(
        effective, headroomFrames: shape.headroomFrames, periodFrames: period,
        channelCount: channelCount),
      feeder: microphone, noiseDBFS: effective.noiseDBFS, format: format,
      channelCount: channelCount, selection: configuration.capture?.selection, periodFrames: period)
    room = DeviceBuffer(
      format: format, channelCount: channelCount, frameCount: period,
      lending: configuration.playback?.selection)
    scheduledFaults = ScheduledFaults(
      effective, xrunSeconds: effective.xrunSeconds, sampleRate: effective.sampleRate)
  }

  /// The host's time, or virtual time: that of the frames captured or played. In nanoseconds.
  public var now: UInt64 {
    @_noLocks get { clock.now }
  }

  /// Starts both directions at frame 0. Throws nothing.
  public mutating func start() throws(DeviceFailure) {
    clock.start(at: 0)
    restart(at: 0)
  }

  /// Sleeps until the next period is available, or advances virtual time to it.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = poll()
    guard case .ready = status.readiness else { return }
    status.periodTime = periodTime
    status.readyTime = clock.now
    // The period and the headroom: there is no converter in between.
    status.reportedLatencyFrames = shape.periodFrames &+ shape.headroomFrames
    status.lostFrames = lostFrames
    lostFrames = 0
  }

  @_noLocks
  private mutating func poll() -> DeviceReadiness {
    if isUnplugged {
      _ = clock.wait(until: clock.frame &+ shape.periodFrames)
      return .lost
    }
    if isRunDry {
      isRunDry = false
      return .xrun(.playbackXrun)
    }
    return shape.hasCapture ? waitForInput() : waitForRoom()
  }

  @_noLocks
  private mutating func waitForInput() -> DeviceReadiness {
    let end = taken &+ shape.periodFrames
    guard clock.wait(until: end) else { return .waiting }
    let reached = max(end, clock.frame)
    if reached > scheduledFaults.unplugFrame {
      isUnplugged = true
      return .lost
    }
    if end > scheduledFaults.nextXrun {
      isOverrunScripted = true
      return .xrun(.captureXrun)
    }
    played = microphone.loopback.played(at: reached)
    if shape.hasPlayback, playedHistory.end <= played { return .xrun(.playbackXrun) }
    if reached &- taken > shape.captureBufferFrames { return .xrun(.captureXrun) }
    periodTime = clock.nanoseconds(at: reached)
    return .ready
  }

  @_noLocks
  private mutating func waitForRoom() -> DeviceReadiness {
    if !isStarted {
      let queued = playedHistory.end &- played
      if queued < shape.periodFrames &+ shape.headroomFrames {
        periodTime = clock.now
        return .ready
      }
      isStarted = true
      clock.start(at: played)
      due = playedHistory.end &- shape.headroomFrames
    }
    guard clock.wait(until: due) else { return .waiting }
    played = max(due, clock.frame)
    if played > scheduledFaults.unplugFrame {
      isUnplugged = true
      return .lost
    }
    if playedHistory.end <= played { return .xrun(.playbackXrun) }
    periodTime = clock.nanoseconds(at: due)
    due &+= shape.periodFrames
    return .ready
  }

  /// Returns the captured frames. Never nil.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    microphone.capture(playedHistory, from: taken, frames: min(frames, shape.periodFrames))
  }

  /// Advances to the next frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    taken &+= frames
  }

  /// Lends room to play. Returns nil if the output is full.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    let queued = playedHistory.end &- played
    return queued &+ frames <= shape.playbackBufferFrames ? room.frames(frames) : nil
  }

  /// Queues the filled frames. On the real clock they may be too late: the next `wait` reports
  /// that.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    if isRealTime, shape.hasCapture || isStarted {
      let frame = clock.frame
      let playedNow = shape.hasCapture ? microphone.loopback.played(at: frame) : frame
      if playedHistory.end <= playedNow {
        isRunDry = true
        return
      }
    }
    playedHistory.append(room, frames: frames)
  }

  /// Returns nil: a single device has no events.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? { nil }

  /// Returns nil: the device has no secondary outputs.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }

  /// Continues at the clock's current frame. Throws nothing.
  public mutating func recover() throws(DeviceFailure) {
    resume()
  }

  /// Does nothing: no preparation is needed.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {}

  /// Does nothing: there is nothing to close.
  public mutating func close() {}

  /// Waits 100 ms, or less if the device is plugged in before, then checks whether it is back.
  public mutating func pollForReconnection() -> DeviceReturn {
    let tenth = clock.frame + configuration.sampleRate / 10
    _ = clock.wait(until: min(tenth, max(clock.frame, scheduledFaults.replugFrame)))
    // The microphone's frames are skipped in the meantime.
    _ = microphone.pass(to: clock.frame)
    guard !isUnplugged || scheduledFaults.isBack(at: clock.frame) else { return .absent }
    resume()
    return .returned(cards: [])
  }

  private mutating func resume() {
    var frame = shape.hasCapture ? max(taken, clock.frame) : max(played, clock.frame)
    if isOverrunScripted { frame = taken + scheduledFaults.xrunFrames }
    if shape.hasCapture { lostFrames += frame - taken }
    restart(at: frame)
  }

  /// Starts both directions at captured frame `frame` (or, without input, played frame `frame`).
  private mutating func restart(at frame: Int) {
    scheduledFaults.resume(at: frame, hasOverrun: isOverrunScripted)
    isUnplugged = false
    isOverrunScripted = false
    isRunDry = false
    taken = frame
    played = frame
    isStarted = false
    let ahead = shape.periodFrames + shape.headroomFrames
    if shape.hasCapture {
      if shape.hasPlayback {
        playedHistory.restart(at: microphone.loopback.nearestPlayed(at: frame), silence: ahead)
      }
    } else {
      playedHistory.restart(at: frame, silence: 0)
    }
  }

  /// Stops the device. With `draining`, waits until all queued frames were played.
  public mutating func stop(draining: Bool) {
    guard draining, shape.hasPlayback, !isUnplugged else { return }
    if !shape.hasCapture, !isStarted { clock.start(at: played) }
    while !clock.wait(until: microphone.loopback.captured(at: playedHistory.end)) {}
  }
}

@_noLocks
private func callSimulatedDevice(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: SimulatedDevice.self), storing: answer)
}

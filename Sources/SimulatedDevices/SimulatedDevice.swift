// Audio thread.

import AudioBasics
import AudioDevices
import RealtimeAudio

/// A duplex device without hardware: what is played comes back at the microphone over a wire.
///
/// What a callback plays in a cycle for frame i is played at output frame i + P + H, and captured
/// `delay` frames later: a round trip takes exactly P + H + delay frames. Positions are kept
/// through every xrun, so frame m of the timeline is always frame m of the device.
///
/// - On the real clock the capture side runs at the rate times 1 + drift, the output at the rate.
///   On the free clock `wait` never sleeps, time is that of the frames captured, and a cycle takes
///   no time.
/// - A scripted overrun loses the frames from the last cycle before its time on.
/// - Unplugged, `wait` says `lost` (and time goes on, by a period) until `pollForReconnection`
///   finds it plugged in again: on the free clock at that very frame.
/// - Without input nothing is heard: `delay`, `gain`, `noise` and `xrun-at` mean nothing then.
///
/// ```swift
/// let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free,delay=10")
/// let device = try SimulatedDevice(
///   wire, request: DuplexRequest(captureDevice: "sim", playbackDevice: "sim"))
/// precondition(device.configuration.sampleRate == 48000)
/// ```
public struct SimulatedDevice: DuplexDriver, ~Copyable, Sendable {
  /// What the audio thread calls.
  public static let function: DriverFunction = callSimulatedDevice
  /// What was granted. Its rate is the specification's.
  public let configuration: DuplexConfiguration
  /// When the newest captured frame was complete, to the nanosecond: no wake-up's jitter is in it.
  private var periodTime: UInt64 = 0

  private let shape: DuplexShape
  private let isRealTime: Bool
  private var clock: DeviceClock
  private var playedHistory: PlayedHistoryRing
  private var microphone: CaptureSignal
  private var room: DeviceBuffer
  private var scheduledFaults: ScheduledFaults
  /// Frames captured and given back, and those that were lost: where the next cycle begins.
  private var taken = 0
  /// Output frames played when the last period was found.
  private var played = 0
  /// Without input: whether it runs, and at which played frame the next period is due.
  private var isStarted = false
  private var due = 0
  private var isUnplugged = false
  private var isOverrunScripted = false
  /// An xrun that came to light in the middle of a cycle.
  private var isRunDry = false
  private var lostFrames = 0

  /// The device that `specification` describes, opened as `request` asks: it captures if the
  /// request names an input, and plays if it names an output.
  ///
  /// The rate is the specification's, whatever the request says: compare
  /// `configuration.sampleRate`. What `microphone` reads is heard as well, at the device's rate and
  /// with as many channels as the device has (`SimulatedChannels`); frames not queued in time are
  /// silence, so on the free clock let enough be queued before. Throws where the request is out of
  /// range, or the device does not have the channels asked for.
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
    // The output's clock is the right one; alone it has nothing to drift against.
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
    scheduledFaults = ScheduledFaults(effective)
  }

  /// The host's time, or virtual time: that of the frames captured or played.
  public var now: UInt64 {
    @_noLocks get { clock.now }
  }

  /// Starts both directions at frame 0. Throws nothing.
  public mutating func start() throws(DeviceFailure) {
    clock.start(at: 0)
    restart(at: 0)
  }

  /// Sleeps until the next period is there, or lets virtual time jump to it.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = look()
    guard case .ready = status.readiness else { return }
    status.periodTime = periodTime
    status.readyTime = clock.now
    // The period and the headroom: no converter is between.
    status.reportedLatencyFrames = shape.periodFrames &+ shape.headroomFrames
    status.lostFrames = lostFrames
    lostFrames = 0
  }

  @_noLocks
  private mutating func look() -> DeviceReadiness {
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

  /// What the microphone captured. Never nil.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    microphone.capture(playedHistory, from: taken, frames: min(frames, shape.periodFrames))
  }

  /// Moves on to the next frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    taken &+= frames
  }

  /// Room to play, nil where the output is full.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    let queued = playedHistory.end &- played
    return queued &+ frames <= shape.playbackBufferFrames ? room.frames(frames) : nil
  }

  /// Queues what was filled. On the real clock it may come too late: the next `wait` says so.
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

  /// It is one device.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? { nil }

  /// It has no secondary outputs.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }

  /// Goes on from the clock's present frame. Throws nothing.
  public mutating func recover() throws(DeviceFailure) {
    resume()
  }

  /// Nothing is to be prepared.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) {}

  /// Nothing is to be closed.
  public mutating func close() {}

  /// A tenth of a second, or less where it is plugged in before.
  public mutating func pollForReconnection() -> DeviceReturn {
    let tenth = clock.frame + configuration.sampleRate / 10
    _ = clock.wait(until: min(tenth, max(clock.frame, scheduledFaults.replugFrame)))
    // The sound in front of the microphone goes on meanwhile.
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

  /// Both directions begin at captured frame `frame` (or, without input, played frame).
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

  /// Draining waits until all that is queued was played.
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

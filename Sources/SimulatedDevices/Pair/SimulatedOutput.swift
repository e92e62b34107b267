// Audio thread.
import AudioBasics
import AudioClocks
import AudioDevices
import RealtimeAudio

/// An output without hardware, with a clock of its own, which can be read as that of a real device
/// can: in batches, and late.
///
/// It goes by the time that it is told. Frame 0 is the moment of the first start, and every frame
/// keeps its number through all stops.
public struct SimulatedOutput: ClockedOutput, ~Copyable, Sendable {
  /// What it granted.
  public let playbackStream: StreamConfiguration

  let clock: SimulatedClock
  private(set) var tape: PlayedHistoryRing
  private var lent: DeviceBuffer
  private var dry: ScheduledFaults
  private var unplugging: Unplugging
  private let bufferFrames: Int
  /// The driver's time at the first start.
  private(set) var origin: UInt64 = 0
  private var hasStarted = false
  /// Where it last started.
  private var first = 0
  private var isBroken = false
  private var silence = 0

  init(
    _ specification: SimulatedDeviceSpecification, _ stream: StreamConfiguration,
    drifts: Bool = false, remembering frames: Int
  ) {
    playbackStream = stream
    bufferFrames = stream.bufferFrames
    var timed = specification
    if drifts { timed.captureRate = nil }
    clock = SimulatedClock(timed, drifts: drifts)
    tape = PlayedHistoryRing(
      frameCount: frames, channelCount: stream.channelCount, periodFrames: stream.periodFrames)
    lent = DeviceBuffer(
      format: stream.format, channelCount: stream.channelCount, frameCount: stream.periodFrames)
    var drying = specification
    drying.xrunSeconds = specification.drySeconds
    dry = ScheduledFaults(drying)
    unplugging = Unplugging(specification, .playback)
  }

  /// An output beside another simulated device, as `specification` describes it and `request` asks.
  /// Its clock runs faster than that device's by the specification's drift.
  public init(
    _ specification: SimulatedDeviceSpecification, request: DuplexRequest
  ) throws(DeviceFailure) {
    try self.init(specification, request: request, remembering: 1)
  }

  /// The same, with at least so many frames that it remembers.
  init(
    _ specification: SimulatedDeviceSpecification, request: DuplexRequest, remembering frames: Int
  ) throws(DeviceFailure) {
    try request.validate()
    try specification.validate()
    let buffer = max(8192, 4 * (request.periodFrames + request.headroom) + 512)
    let stream = StreamConfiguration(
      device: specification.name, sampleRate: specification.sampleRate,
      channelCount: try specification.channelCount(for: request),
      format: request.format ?? .floatLE, periodFrames: request.periodFrames, bufferFrames: buffer)
    self.init(specification, stream, drifts: true, remembering: max(frames, 2 * buffer))
  }

  @_noLocks
  private func seconds(at now: UInt64) -> Double { Double(now &- origin) * 1e-9 }

  /// Starts it anew.
  public mutating func startOutput(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    restart(silence: frames, at: now)
  }

  @_noLocks
  private mutating func restart(silence frames: Int, at now: UInt64) {
    if !hasStarted { origin = now }
    hasStarted = true
    // Where it is, and not where it is seen: batches behind, it would have played what it got.
    first = Int(clamping: clock.course.frames(at: seconds(at: now)))
    tape.restart(at: first, silence: frames)
    dry.resume(at: first)
    isBroken = false
  }

  /// Asks it where it is.
  @_noLocks
  public mutating func lookAtOutput(at now: UInt64) -> SideState {
    let seconds = seconds(at: now)
    if unplugging.isAway(at: seconds) { return .lost }
    let (frames, since) = clock.seen(at: seconds)
    if frames > dry.nextXrun { isBroken = true }
    if isBroken || Int(clamping: clock.course.frames(at: seconds)) >= tape.end { return .xrun }
    return .running(
      ClockReading(
        frames: max(0, frames &- first), nanoseconds: origin &+ UInt64(clamping: since * 1e9)),
      available: bufferFrames &- (tape.end &- max(frames, first)))
  }

  /// Room to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    let queued = tape.end &- Int(clamping: clock.course.frames(at: seconds(at: now)))
    return queued &+ frames <= bufferFrames ? lent.frames(frames) : nil
  }

  /// Queues what was filled.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool {
    tape.append(lent, frames: frames)
    return true
  }

  /// It comes back when the specification says so.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool { true }

  /// Nothing is to be closed.
  @_noLocks
  public mutating func partWithOutput(silence frames: Int) { silence = frames }

  /// Starts it where it is there again.
  @_noLocks
  public mutating func takeOutputBack(at now: UInt64) -> Int? {
    guard unplugging.reattach(at: seconds(at: now)) else { return nil }
    restart(silence: silence, at: now)
    return silence
  }

  /// Nothing is to be stopped.
  public mutating func stop() {}
}

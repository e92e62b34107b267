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
struct SimulatedOutput: ~Copyable, Sendable {
  /// What it granted.
  let configuration: StreamConfiguration

  let clock: SimulatedClock
  private(set) var playedHistory: PlayedHistoryRing
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
    configuration = stream
    bufferFrames = stream.bufferFrames
    var timed = specification
    if drifts { timed.captureRate = nil }
    clock = SimulatedClock(timed, drifts: drifts)
    playedHistory = PlayedHistoryRing(
      frameCount: frames, channelCount: stream.deviceChannelCount,
      periodFrames: stream.periodFrames)
    lent = DeviceBuffer(
      format: stream.format, channelCount: stream.deviceChannelCount,
      frameCount: stream.periodFrames, lending: stream.selection)
    var drying = specification
    drying.xrunSeconds = specification.drySeconds
    dry = ScheduledFaults(drying)
    unplugging = Unplugging(specification, .playback)
  }

  /// An output beside another simulated device, as `specification` describes it and `request` asks,
  /// that remembers at least `frames` frames. Its clock runs faster than that device's by the
  /// specification's drift.
  init(
    _ specification: SimulatedDeviceSpecification, request: DuplexRequest, remembering frames: Int
  ) throws(DeviceFailure) {
    try request.validate()
    try specification.validate()
    let buffer = max(8192, 4 * (request.periodFrames + request.headroom) + 512)
    let channels = try SimulatedChannels(specification, for: request)
    let stream = channels.stream(
      specification.name, channels.playback, specification.sampleRate, request,
      bufferFrames: buffer)
    self.init(specification, stream, drifts: true, remembering: max(frames, 2 * buffer))
  }

  @_noLocks
  private func seconds(at now: UInt64) -> Double { Double(now &- origin) * 1e-9 }

  /// Starts it anew.
  mutating func start(silence frames: Int, at now: UInt64) {
    restart(silence: frames, at: now)
  }

  @_noLocks
  private mutating func restart(silence frames: Int, at now: UInt64) {
    if !hasStarted { origin = now }
    hasStarted = true
    // Where it is, and not where it is seen: batches behind, it would have played what it got.
    first = Int(clamping: clock.course.frames(at: seconds(at: now)))
    playedHistory.restart(at: first, silence: frames)
    dry.resume(at: first, hasOverrun: isBroken)
    isBroken = false
  }

  /// Asks it where it is.
  @_noLocks
  mutating func readState(at now: UInt64) -> StreamState {
    let seconds = seconds(at: now)
    if unplugging.isAway(at: seconds) { return .lost }
    let (frames, since) = clock.seen(at: seconds)
    if frames > dry.nextXrun { isBroken = true }
    if isBroken || Int(clamping: clock.course.frames(at: seconds)) >= playedHistory.end {
      return .xrun
    }
    return .running(
      ClockReading(
        frames: max(0, frames &- first), nanoseconds: origin &+ UInt64(clamping: since * 1e9)),
      available: bufferFrames &- (playedHistory.end &- max(frames, first)))
  }

  /// Room to play.
  @_noLocks
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    let queued = playedHistory.end &- Int(clamping: clock.course.frames(at: seconds(at: now)))
    return queued &+ frames <= bufferFrames ? lent.frames(frames) : nil
  }

  /// Queues what was filled.
  @_noLocks
  mutating func commit(_ frames: Int) -> Bool {
    playedHistory.append(lent, frames: frames)
    return true
  }

  /// Nothing is to be closed.
  @_noLocks
  mutating func detach(silence frames: Int) { silence = frames }

  /// Starts it where it is there again.
  @_noLocks
  mutating func reattach(at now: UInt64) -> Int? {
    guard unplugging.reattach(at: seconds(at: now)) else { return nil }
    restart(silence: silence, at: now)
    return silence
  }
}

/// The output as a stream; the input of a pair captures what the same output plays.
struct SimulatedOutputStream: StreamDriver, ~Copyable {
  static let function: DriverFunction = callSimulatedOutput
  let output: SharedState<SimulatedOutput>

  var configuration: StreamConfiguration { output.pointer.pointee.configuration }

  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    output.pointer.pointee.start(silence: frames, at: now)
  }

  /// It comes back when the specification says so.
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool { true }

  mutating func stop() {}

  @_noLocks
  mutating func readState(at now: UInt64) -> StreamState {
    output.pointer.pointee.readState(at: now)
  }

  @_noLocks
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    output.pointer.pointee.frames(frames, at: now)
  }

  @_noLocks
  mutating func commit(_ frames: Int) -> Bool { output.pointer.pointee.commit(frames) }

  @_noLocks
  mutating func detach(silence frames: Int) { output.pointer.pointee.detach(silence: frames) }

  @_noLocks
  mutating func reattach(at now: UInt64) -> Int? { output.pointer.pointee.reattach(at: now) }
}

@_noLocks
private func callSimulatedOutput(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: SimulatedOutputStream.self), storing: answer)
}

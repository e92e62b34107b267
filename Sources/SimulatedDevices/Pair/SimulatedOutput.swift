// Audio thread.
import AudioBasics
import AudioClocks
import AudioDevices
import RealtimeAudio

/// An output without hardware, with its own clock, which can be read as that of a real device: in
/// batches, and late.
///
/// It uses the times that its caller passes. Frame 0 is the time of the first start, and every
/// frame keeps its number through all stops.
struct SimulatedOutput: ~Copyable, Sendable {
  /// The configuration that was granted.
  let configuration: StreamConfiguration

  let clock: SimulatedClock
  private(set) var playedHistory: PlayedHistoryRing
  private var lent: DeviceBuffer
  private var scheduledFaults: ScheduledFaults
  private var unplugging: UnplugSchedule
  private let bufferFrames: Int
  /// The driver's time at the first start, in nanoseconds.
  private(set) var origin: UInt64 = 0
  private var hasStarted = false
  /// The position of the last start.
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
    scheduledFaults = ScheduledFaults(
      specification, xrunSeconds: specification.drySeconds, sampleRate: specification.sampleRate)
    unplugging = UnplugSchedule(specification, .playback)
  }

  /// Creates an output beside another simulated device, as `specification` describes it, for
  /// `request`. It stores at least `frames` frames. Its clock runs faster than that device's clock
  /// by the specification's drift. Throws if it does not have the requested channels.
  init(
    _ specification: SimulatedDeviceSpecification, request: DuplexRequest, remembering frames: Int
  ) throws(DeviceFailure) {
    try request.validate()
    try specification.validate()
    let buffer = request.simulatedBufferFrames
    let channels = try SimulatedChannels(specification, for: request)
    let stream = channels.stream(
      specification.name, channels.playback, specification.sampleRate, request,
      bufferFrames: buffer)
    self.init(specification, stream, drifts: true, remembering: max(frames, 2 * buffer))
  }

  @_noLocks
  private func seconds(at now: UInt64) -> Double { Double(now &- origin) * 1e-9 }

  /// Starts the output again.
  mutating func start(silence frames: Int, at now: UInt64) {
    restart(silence: frames, at: now)
  }

  @_noLocks
  private mutating func restart(silence frames: Int, at now: UInt64) {
    if !hasStarted { origin = now }
    hasStarted = true
    // This is the exact position. The visible position may be batches behind, and the output would
    // already have played the frames it received.
    first = Int(clamping: clock.model.frames(at: seconds(at: now)))
    playedHistory.restart(at: first, silence: frames)
    scheduledFaults.resume(at: first, hasOverrun: isBroken)
    isBroken = false
  }

  /// Returns the state of the output and, while it runs, its position.
  @_noLocks
  mutating func readState(at now: UInt64) -> StreamState {
    let seconds = seconds(at: now)
    if unplugging.isAway(at: seconds) { return .lost }
    let (frames, since) = clock.seen(at: seconds)
    if frames > scheduledFaults.nextXrun { isBroken = true }
    if isBroken || Int(clamping: clock.model.frames(at: seconds)) >= playedHistory.end {
      return .xrun
    }
    return .running(
      ClockReading(
        frames: max(0, frames &- first), nanoseconds: origin &+ UInt64(clamping: since * 1e9)),
      available: bufferFrames &- (playedHistory.end &- max(frames, first)))
  }

  /// Lends room to play. Returns nil if the buffer is full.
  @_noLocks
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    let queued = playedHistory.end &- Int(clamping: clock.model.frames(at: seconds(at: now)))
    return queued &+ frames <= bufferFrames ? lent.frames(frames) : nil
  }

  /// Queues the filled frames.
  @_noLocks
  mutating func commit(_ frames: Int) -> Bool {
    playedHistory.append(lent, frames: frames)
    return true
  }

  /// Stores the number of frames of silence for the return. There is nothing to close.
  @_noLocks
  mutating func detach(silence frames: Int) { silence = frames }

  /// Starts the output if it is back. Returns the number of frames of silence that it started with;
  /// nil if it is still away.
  @_noLocks
  mutating func reattach(at now: UInt64) -> Int? {
    guard unplugging.reattach(at: seconds(at: now)) else { return nil }
    restart(silence: silence, at: now)
    return silence
  }
}

/// The output as a stream. The input of a pair captures the frames that this output plays.
struct SimulatedOutputStream: StreamDriver, ~Copyable {
  static let function: DriverFunction = callSimulatedOutput
  let output: SharedState<SimulatedOutput>

  var configuration: StreamConfiguration { output.pointer.pointee.configuration }

  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    output.pointer.pointee.start(silence: frames, at: now)
  }

  /// Returns true: the output comes back at the specified time.
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool { true }

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

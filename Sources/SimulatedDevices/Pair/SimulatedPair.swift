// Audio thread.

import AudioBasics
import AudioClocks
import AudioDevices
import RealtimeAudio

/// Two devices without hardware, each with a clock of its own: what one plays comes back at the
/// other's microphone over a wire.
///
/// The output's clock is right; the input's drifts as the specification says. Both can be read as
/// those of real devices can: in batches, and late. Frame 0 of both is the moment of the first
/// start, and every frame keeps its number through all stops.
public struct SimulatedPair: DevicePair, ~Copyable, Sendable {
  /// What the input granted.
  public let captureStream: StreamConfiguration
  /// What the output granted.
  public let playbackStream: StreamConfiguration

  private let isFree: Bool
  private let captureBufferFrames: Int
  private let capturePeriod: Int
  private let input: SimulatedClock
  private var output: SimulatedOutput
  private var microphone: Microphone
  private var scheduledFaults: ScheduledFaults
  private var unplugging: Unplugging
  /// Nanoseconds of virtual time.
  private var time: UInt64 = 0
  /// Where the input last started, and the frames given back.
  private var captureStart = 0
  private var taken = 0
  private var isCaptureBroken = false

  init(
    _ specification: SimulatedDeviceSpecification, capture: StreamConfiguration,
    output: consuming SimulatedOutput, microphone: consuming Microphone
  ) {
    let played = output.playbackStream
    captureStream = capture
    playbackStream = played
    isFree = specification.clock == .free
    captureBufferFrames = capture.bufferFrames
    capturePeriod = capture.periodFrames
    input = SimulatedClock(specification, drifts: true)
    self.output = output
    self.microphone = microphone
    var ownRate = specification
    ownRate.sampleRate = capture.sampleRate
    scheduledFaults = ScheduledFaults(ownRate)
    unplugging = Unplugging(specification, .capture)
  }

  /// The host's time, or virtual time.
  public var now: UInt64 {
    @_noLocks get { isFree ? time : HostClock.nanoseconds }
  }

  /// Since the output was first started: both go by that.
  @_noLocks
  private func seconds(at now: UInt64) -> Double { Double(now &- output.origin) * 1e-9 }

  /// Sleeps, or lets virtual time jump there.
  @_noLocks
  public mutating func sleep(until nanoseconds: UInt64) {
    if isFree {
      time = max(time, nanoseconds)
    } else {
      HostClock.sleep(until: min(nanoseconds, now &+ 100_000_000))
    }
  }

  /// Starts the output anew.
  public mutating func startOutput(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try output.startOutput(silence: frames, at: now)
  }

  /// Starts the input anew.
  public mutating func startInput(at now: UInt64) throws(DeviceFailure) { restartInput(at: now) }

  @_noLocks
  private mutating func restartInput(at now: UInt64) {
    captureStart = input.seen(at: seconds(at: now)).frames
    // A scripted overrun lasts as long as it is told to.
    if isCaptureBroken { captureStart = max(captureStart, taken + scheduledFaults.xrunFrames) }
    taken = captureStart
    scheduledFaults.resume(at: captureStart)
    isCaptureBroken = false
  }

  /// Asks the output where it is.
  @_noLocks
  public mutating func lookAtOutput(at now: UInt64) -> SideState { output.lookAtOutput(at: now) }

  /// Asks the input where it is.
  @_noLocks
  public mutating func lookAtInput(at now: UInt64) -> SideState {
    let seconds = seconds(at: now)
    if unplugging.isAway(at: seconds) { return .lost }
    let (frames, since) = input.seen(at: seconds)
    if frames > scheduledFaults.nextXrun { isCaptureBroken = true }
    if isCaptureBroken || frames &- taken > captureBufferFrames { return .xrun }
    return .running(
      ClockReading(
        frames: max(0, frames &- captureStart),
        nanoseconds: output.origin &+ UInt64(clamping: since * 1e9)),
      available: max(0, frames &- taken))
  }

  /// What the microphone heard.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    let count = min(frames, capturePeriod)
    let first = output.clock.course.frames(at: input.course.seconds(at: Double(taken)))
    let last = output.clock.course.frames(at: input.course.seconds(at: Double(taken &+ count)))
    return microphone.hear(
      output.tape, from: taken, frames: count, played: first,
      step: (last - first) / Double(max(1, count)))
  }

  /// Moves on to the next frames.
  @_noLocks
  public mutating func release(_ frames: Int) -> Bool {
    taken &+= frames
    return true
  }

  /// Room to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    output.playbackRoom(frames, at: now)
  }

  /// Queues what was filled.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool { output.commit(frames) }

  /// Both come back when the specification says so.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool { true }

  /// Nothing is to be closed.
  @_noLocks
  public mutating func partWithInput() {}

  /// Nothing is to be closed.
  @_noLocks
  public mutating func partWithOutput(silence frames: Int) {
    output.partWithOutput(silence: frames)
  }

  /// Starts the input where it is there again.
  @_noLocks
  public mutating func takeInputBack(at now: UInt64) -> Bool {
    guard unplugging.reattach(at: seconds(at: now)) else { return false }
    restartInput(at: now)
    return true
  }

  /// Starts the output where it is there again.
  @_noLocks
  public mutating func takeOutputBack(at now: UInt64) -> Int? { output.takeOutputBack(at: now) }

  /// Nothing is to be stopped.
  public mutating func stop() {}
}

/// When a device is away.
struct Unplugging: BitwiseCopyable, Sendable {
  private enum Fate: BitwiseCopyable {
    case ahead, away, past
  }

  private let seconds: Double
  private let returnSeconds: Double
  private var fate: Fate

  /// What `specification` says of one of two devices, if that one is meant.
  init(_ specification: SimulatedDeviceSpecification, _ side: SimulatedDeviceSpecification.Side) {
    let chosen = specification.unplugSide ?? .both
    seconds = specification.unplugSeconds ?? .infinity
    returnSeconds = specification.replugSeconds ?? .infinity
    fate = chosen == .both || chosen == side ? .ahead : .past
  }

  /// Whether whoever uses it finds it gone: from when it is pulled until he takes it up again.
  @_noLocks
  mutating func isAway(at time: Double) -> Bool {
    if case .ahead = fate, time >= seconds { fate = .away }
    if case .away = fate { return true }
    return false
  }

  /// Takes it up again, if it is there: always, where it was never pulled.
  @_noLocks
  mutating func reattach(at time: Double) -> Bool {
    guard case .away = fate else { return true }
    guard time >= returnSeconds else { return false }
    fate = .past
    return true
  }
}

// Audio thread.

import AudioBasics
import AudioClocks
import AudioDevices
import RealtimeAudio

/// An input without hardware, with a clock of its own: what an output plays comes back at its
/// microphone over a wire.
///
/// The output's clock is right; the input's drifts as the specification says. Both can be read as
/// those of real devices can: in batches, and late. Frame 0 of both is the moment of the first
/// start of the output, and every frame keeps its number through all stops.
struct SimulatedInput: StreamDriver, ~Copyable {
  static let function: DriverFunction = callSimulatedInput
  /// What it granted.
  let configuration: StreamConfiguration

  private let captureBufferFrames: Int
  private let capturePeriod: Int
  private let clock: SimulatedClock
  private let output: SharedState<SimulatedOutput>
  private var microphone: CaptureSignal
  private var scheduledFaults: ScheduledFaults
  private var unplugging: Unplugging
  /// Where the input last started, and the frames given back.
  private var captureStart = 0
  private var taken = 0
  private var isCaptureBroken = false

  init(
    _ specification: SimulatedDeviceSpecification, capture: StreamConfiguration,
    output: consuming SharedState<SimulatedOutput>, microphone: consuming CaptureSignal
  ) {
    configuration = capture
    captureBufferFrames = capture.bufferFrames
    capturePeriod = capture.periodFrames
    clock = SimulatedClock(specification, drifts: true)
    self.output = output
    self.microphone = microphone
    var ownRate = specification
    ownRate.sampleRate = capture.sampleRate
    scheduledFaults = ScheduledFaults(ownRate)
    unplugging = Unplugging(specification, .capture)
  }

  /// Since the output was first started: both go by that.
  @_noLocks
  private func seconds(at now: UInt64) -> Double {
    Double(now &- output.pointer.pointee.origin) * 1e-9
  }

  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    restart(at: now)
  }

  @_noLocks
  private mutating func restart(at now: UInt64) {
    captureStart = clock.seen(at: seconds(at: now)).frames
    // A scripted overrun lasts as long as it is told to.
    if isCaptureBroken { captureStart = max(captureStart, taken + scheduledFaults.xrunFrames) }
    taken = captureStart
    scheduledFaults.resume(at: captureStart, hasOverrun: isCaptureBroken)
    isCaptureBroken = false
  }

  /// The state of the input; while it runs, with its position.
  @_noLocks
  mutating func readState(at now: UInt64) -> StreamState {
    let seconds = seconds(at: now)
    if unplugging.isAway(at: seconds) { return .lost }
    let (frames, since) = clock.seen(at: seconds)
    if frames > scheduledFaults.nextXrun { isCaptureBroken = true }
    if isCaptureBroken || frames &- taken > captureBufferFrames { return .xrun }
    return .running(
      ClockReading(
        frames: max(0, frames &- captureStart),
        nanoseconds: output.pointer.pointee.origin &+ UInt64(clamping: since * 1e9)),
      available: max(0, frames &- taken))
  }

  /// What the microphone captured.
  @_noLocks
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    let count = min(frames, capturePeriod)
    let first = output.pointer.pointee.clock.course.frames(
      at: clock.course.seconds(at: Double(taken)))
    let last = output.pointer.pointee.clock.course.frames(
      at: clock.course.seconds(at: Double(taken &+ count)))
    return microphone.capture(
      output.pointer.pointee.playedHistory, from: taken, frames: count, played: first,
      step: (last - first) / Double(max(1, count)))
  }

  /// Moves on to the next frames.
  @_noLocks
  mutating func commit(_ frames: Int) -> Bool {
    taken &+= frames
    return true
  }

  /// It comes back when the specification says so.
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool { true }

  /// Nothing is to be closed.
  @_noLocks
  mutating func detach(silence frames: Int) {}

  /// Starts the input where it is there again.
  @_noLocks
  mutating func reattach(at now: UInt64) -> Int? {
    // The sound in front of the microphone goes on meanwhile.
    _ = microphone.pass(to: clock.seen(at: seconds(at: now)).frames)
    guard unplugging.reattach(at: seconds(at: now)) else { return nil }
    restart(at: now)
    return 0
  }

  mutating func stop() {}
}

/// The times at which one of two simulated devices is unplugged and comes back.
struct Unplugging: ~Copyable, Sendable {
  private let absences: [SimulatedDeviceSpecification.Absence]
  /// Which of them is ahead, or is now.
  private var index = 0
  private var isNow = false

  /// What `specification` says of one of two devices, where that one is meant.
  init(_ specification: SimulatedDeviceSpecification, _ side: SimulatedDeviceSpecification.Side) {
    absences = specification.absences.filter { $0.side == .both || $0.side == side }
  }

  /// Whether its user finds it gone: from when it is unplugged until it is taken up again.
  @_noLocks
  mutating func isAway(at time: Double) -> Bool {
    if !isNow, index < absences.count, time >= absences[index].seconds { isNow = true }
    return isNow
  }

  /// Takes it up again, if it is there: always, where it was never pulled.
  @_noLocks
  mutating func reattach(at time: Double) -> Bool {
    guard isNow else { return true }
    guard time >= absences[index].returnSeconds else { return false }
    isNow = false
    index &+= 1
    return true
  }
}

@_noLocks
private func callSimulatedInput(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: SimulatedInput.self), storing: answer)
}

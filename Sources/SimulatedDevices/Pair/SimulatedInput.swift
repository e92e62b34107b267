// Audio thread.

import AudioBasics
import AudioClocks
import AudioDevices
import RealtimeAudio

/// An input without hardware, with its own clock: a simulated wire returns the frames that an
/// output plays to its microphone.
///
/// The output's clock is exact; the input's clock drifts as the specification states. Both can be
/// read as the clocks of real devices: in batches, and late. Frame 0 of both is the time of the
/// first start of the output, and every frame keeps its number through all stops.
struct SimulatedInput: StreamDriver, ~Copyable {
  static let function: DriverFunction = callSimulatedInput
  /// The configuration that was granted.
  let configuration: StreamConfiguration

  private let captureBufferFrames: Int
  private let capturePeriod: Int
  private let clock: SimulatedClock
  private let output: SharedState<SimulatedOutput>
  private var microphone: CaptureSignal
  private var scheduledFaults: ScheduledFaults
  private var unplugging: UnplugSchedule
  /// The position of the input's last start, and the position of the next frame to be read.
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
    scheduledFaults = ScheduledFaults(
      specification, xrunSeconds: specification.xrunSeconds, sampleRate: capture.sampleRate)
    unplugging = UnplugSchedule(specification, .capture)
  }

  /// Returns the seconds since the first start of the output, which both devices use.
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
    // A scheduled overrun loses at least the specified number of frames.
    if isCaptureBroken { captureStart = max(captureStart, taken + scheduledFaults.xrunFrames) }
    taken = captureStart
    scheduledFaults.resume(at: captureStart, hasOverrun: isCaptureBroken)
    isCaptureBroken = false
  }

  /// Returns the state of the input and, while it runs, its position.
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

  /// Returns the captured frames.
  @_noLocks
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    let count = min(frames, capturePeriod)
    let first = output.pointer.pointee.clock.model.frames(
      at: clock.model.seconds(at: Double(taken)))
    let last = output.pointer.pointee.clock.model.frames(
      at: clock.model.seconds(at: Double(taken &+ count)))
    return microphone.capture(
      output.pointer.pointee.playedHistory, from: taken, frames: count, played: first,
      step: (last - first) / Double(max(1, count)))
  }

  /// Advances to the next frames.
  @_noLocks
  mutating func commit(_ frames: Int) -> Bool {
    taken &+= frames
    return true
  }

  /// Returns true: the input comes back at the specified time.
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool { true }

  /// Does nothing: there is nothing to close.
  @_noLocks
  mutating func detach(silence frames: Int) {}

  /// Starts the input if it is back. Returns 0, or nil if it is still away.
  @_noLocks
  mutating func reattach(at now: UInt64) -> Int? {
    // The microphone's frames are skipped in the meantime.
    _ = microphone.pass(to: clock.seen(at: seconds(at: now)).frames)
    guard unplugging.reattach(at: seconds(at: now)) else { return nil }
    restart(at: now)
    return 0
  }

  mutating func stop() {}
}

@_noLocks
private func callSimulatedInput(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: SimulatedInput.self), storing: answer)
}

// Audio thread.
import AudioBasics
import AudioClocks

/// The place of an input's frames on its clock, which counts on while the input delivers none.
///
/// The first reading after a start places the input's frame 0 on the extrapolated clock. A reading
/// is late: the device has already advanced further. Once the estimate of the clock is more
/// accurate, the error of the place is measured, and the next place is corrected by it.
struct InputPlacement: BitwiseCopyable {
  /// Whether the input was started and has not delivered frames yet.
  private(set) var isPending = true
  /// The position of the input's frame 0 since its last start.
  private(set) var start = 0
  /// The time of the first reading after that start, and the correct position at that time, on the
  /// clock before the gap; nil if there is no such clock.
  private var begunTime: UInt64 = 0
  private var correctPosition: Double?
  /// The number of frames by which the input was placed too far ahead.
  private var error = 0.0

  /// Notes that the input was started: the next reading places it.
  @_noLocks
  mutating func restart() { isPending = true }

  /// Places the input by its first reading after a start. `head` is the position after the last
  /// frame that it delivered before. Returns the number of frames between that position and the
  /// input's frame 0, negative if the latter comes first.
  @_noLocks
  mutating func place(
    _ reading: ClockReading, after head: Int, _ bridge: inout ClockDomainBridge
  ) -> Int {
    isPending = false
    begunTime = reading.nanoseconds
    if bridge.input.isRunning {
      let position = bridge.input.frames(at: reading.nanoseconds) - error
      correctPosition = position
      error = 0
      start = Int(clamping: position - bridge.input.lateness + 0.5) - reading.frames
    } else {
      correctPosition = nil
      start = head
    }
    return start - head
  }

  /// Measures the error of the place. From 0.2 to 4 s after the start, the estimate of the clock is
  /// more accurate, and is evaluated for the time of the start, as long as the clock runs at the
  /// same rate.
  @_noLocks
  mutating func measureError(_ bridge: inout ClockDomainBridge, at now: UInt64) {
    let age = now &- begunTime
    guard let correctPosition, age > 200_000_000, age < 4_000_000_000,
      bridge.input.estimate.begunNanoseconds <= begunTime
    else { return }
    error = bridge.input.frames(at: begunTime) - correctPosition
  }

  /// Returns whether the input was placed so recently that its delay is not correct yet.
  @_noLocks
  func isFresh(at now: UInt64) -> Bool { now &- begunTime < 200_000_000 }

  /// Returns whether the input was placed so recently that its delay is set at once, rather than
  /// adjusted gradually.
  @_noLocks
  func isLearning(at now: UInt64) -> Bool { now &- begunTime < 700_000_000 }
}

/// The absence of an input that went away: from its loss to its first frames after its return. A
/// device that is back only briefly counts as away since its first loss.
struct InputAbsence: BitwiseCopyable {
  /// Whether the input is detached until it is found again.
  private(set) var isAway = false
  /// The position of the input when it went away; nil while it is present.
  private(set) var startFrame: Int?
  /// The number of frames of silence lent in place of the input's frames.
  private var silentFrames = 0
  /// The event that must still be reported to the unit.
  private var event: DeviceEvent?

  /// Begins the absence of an input whose next frame would be `head`.
  @_noLocks
  mutating func begin(at head: Int) {
    isAway = true
    guard startFrame == nil else { return }
    startFrame = head
    event = DeviceEvent(.captureLost)
  }

  /// Notes that the device is back, and has not delivered frames yet.
  @_noLocks
  mutating func reattach() { isAway = false }

  /// Counts `frames` frames of silence.
  @_noLocks
  mutating func addSilence(_ frames: Int) { silentFrames += frames }

  /// Ends the absence, which was `frames` unit frames long. These are silence on the timeline
  /// unless the input is the unit's clock master, whose frames are missing from it.
  @_noLocks
  mutating func end(frames: Int, isMaster: Bool) {
    startFrame = nil
    event = DeviceEvent(
      .captureReturned, frames: frames, silentFrames: isMaster ? silentFrames : frames)
    silentFrames = 0
  }

  /// Whether an event was not reported yet.
  var hasEvent: Bool {
    @_noLocks get { event != nil }
  }

  /// Returns an event that was not reported yet; nil if there is none.
  @_noLocks
  mutating func takeEvent() -> DeviceEvent? {
    defer { event = nil }
    return event
  }
}

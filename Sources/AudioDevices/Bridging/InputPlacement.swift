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

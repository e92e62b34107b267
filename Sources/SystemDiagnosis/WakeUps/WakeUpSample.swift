import RealtimeAudio

/// How late a thread was woken up that slept until a given time, again and again.
public struct WakeUpSample: Sendable, Equatable {
  /// The priority the audio thread asks for.
  static let wantedPriority = 70

  /// What the thread was given.
  public var granted: GrantedPriority
  /// Times it was woken up.
  public var count: Int
  /// How late it was on average.
  public var meanMicroseconds: Double
  /// 99 of 100 were not later than that.
  public var mostMicroseconds: Double
  /// The latest.
  public var worstMicroseconds: Double

  /// Of a sample that was taken, or one that might have been. `late` are delays in microseconds.
  public init(granted: GrantedPriority, late: [Double]) {
    let sorted = late.sorted()
    self.granted = granted
    count = sorted.count
    meanMicroseconds = sorted.reduce(0, +) / Double(max(1, sorted.count))
    mostMicroseconds = sorted.isEmpty ? 0 : sorted[max(0, (sorted.count * 99 + 99) / 100 - 1)]
    worstMicroseconds = sorted.last ?? 0
  }
}

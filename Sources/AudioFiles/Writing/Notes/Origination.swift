/// When the first frame of a recording was captured, as broadcasters note it (EBU Tech 3285): by the
/// local clock, and as a number of frames since local midnight.
public struct Origination: Sendable, Equatable {
  /// The local date, as in 2026-11-21.
  public let date: String
  /// The local time, as in 20:47:37.
  public let time: String
  /// Frames between local midnight, by the clock on the wall, and the first frame.
  public let timeReference: Int

  /// The time that is so many nanoseconds after the beginning of 1970 (UTC), in the time zone of this
  /// process, for a file of `sampleRate` frames a second.
  public init(nanosecondsSinceEpoch: UInt64, sampleRate: Int) {
    let local = LocalTime(nanosecondsSinceEpoch)
    date = local.formatted("%Y-%m-%d")
    time = local.formatted("%H:%M:%S")
    let nanoseconds = Int(nanosecondsSinceEpoch % 1_000_000_000)
    timeReference = local.secondOfDay * sampleRate + nanoseconds * sampleRate / 1_000_000_000
  }
}

import Glibc

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
    var seconds = time_t(nanosecondsSinceEpoch / 1_000_000_000)
    let nanoseconds = Int(nanosecondsSinceEpoch % 1_000_000_000)
    var local = tm()
    localtime_r(&seconds, &local)
    let year = Self.digits(local.tm_year + 1900, 4)
    date = "\(year)-\(Self.digits(local.tm_mon + 1, 2))-\(Self.digits(local.tm_mday, 2))"
    let hour = Self.digits(local.tm_hour, 2)
    time = "\(hour):\(Self.digits(local.tm_min, 2)):\(Self.digits(local.tm_sec, 2))"
    let second = Int((local.tm_hour * 60 + local.tm_min) * 60 + local.tm_sec)
    timeReference = second * sampleRate + nanoseconds * sampleRate / 1_000_000_000
  }

  private static func digits(_ number: Int32, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}

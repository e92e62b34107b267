import Glibc

/// A time as the clock on the wall shows it.
public struct LocalTime: Sendable {
  private let nanoseconds: UInt64

  /// That of `nanoseconds` since 1970.
  public init(_ nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Whole seconds since midnight by that clock.
  var secondOfDay: Int {
    let fields = fields
    return Int((fields.tm_hour * 60 + fields.tm_min) * 60 + fields.tm_sec)
  }

  private var fields: tm {
    var seconds = time_t(nanoseconds / 1_000_000_000)
    var fields = tm()
    localtime_r(&seconds, &fields)
    return fields
  }

  /// `pattern` with strftime's words filled in; as it is where that becomes too long.
  public func formatted(_ pattern: String) -> String {
    guard !pattern.isEmpty else { return "" }
    var fields = fields
    // What comes out may be longer than what goes in, but not by more than this.
    var bytes = [CChar](repeating: 0, count: pattern.utf8.count * 40 + 64)
    // Nothing is written of what is too long, and nothing comes of some words: a point tells them
    // apart.
    let count = strftime(&bytes, bytes.count, pattern + ".", &fields)
    guard count > 0 else { return pattern }
    return String(decoding: bytes[..<(count - 1)].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// As RFC 3339 has it, to the millisecond: 2026-01-31T14:00:00.250+01:00.
  public var text: String {
    let digits = String(nanoseconds % 1_000_000_000 / 1_000_000)
    let zone = formatted("%z")
    return formatted("%Y-%m-%dT%H:%M:%S.")
      + String(repeating: "0", count: 3 - digits.count) + digits + zone.dropLast(2) + ":"
      + zone.suffix(2)
  }
}

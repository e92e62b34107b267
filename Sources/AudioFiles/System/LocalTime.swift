import Glibc

/// A time in the local time zone.
public struct LocalTime: Sendable {
  private let nanoseconds: UInt64

  /// Creates the time that is `nanoseconds` after the beginning of 1970 (UTC).
  public init(_ nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The number of whole seconds since midnight, local time.
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

  /// The fields in UTC if RFC 3339 has no form for the offset of the local time: it has hours below
  /// 24 and whole minutes.
  private var standardFields: tm {
    var fields = fields
    if abs(fields.tm_gmtoff) >= 86_400 || fields.tm_gmtoff % 60 != 0 {
      var seconds = time_t(nanoseconds / 1_000_000_000)
      gmtime_r(&seconds, &fields)
    }
    return fields
  }

  /// Returns `pattern` with the conversions of strftime filled in; unchanged if the result is too
  /// long.
  public func formatted(_ pattern: String) -> String { Self.formatted(pattern, fields) }

  private static func formatted(_ pattern: String, _ fields: tm) -> String {
    guard !pattern.isEmpty else { return "" }
    var fields = fields
    // The result may be longer than the pattern, but not by more than this.
    var bytes = [CChar](repeating: 0, count: pattern.utf8.count * 40 + 64)
    // strftime writes nothing if the result is too long, and some conversions give an empty result;
    // a point at the end distinguishes the two.
    let count = strftime(&bytes, bytes.count, pattern + ".", &fields)
    guard count > 0 else { return pattern }
    return String(decoding: bytes[..<(count - 1)].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The time in the format of RFC 3339, with milliseconds: 2026-01-31T14:00:00.250+01:00.
  public var text: String {
    let digits = String(nanoseconds % 1_000_000_000 / 1_000_000)
    let fields = standardFields
    let zone = Self.formatted("%z", fields)
    return Self.formatted("%Y-%m-%dT%H:%M:%S.", fields)
      + String(repeating: "0", count: 3 - digits.count) + digits + zone.dropLast(2) + ":"
      + zone.suffix(2)
  }
}

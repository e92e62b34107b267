import Glibc

/// What a file says beside its sound, as far as is known by now.
struct RecordingNotes {
  let tags: SoundFileTags
  var origination: Origination?
  var loudness = BroadcastLoudness()
  var markers: [SoundFileMarker] = []

  init(_ tags: SoundFileTags) {
    self.tags = tags
  }
}

/// How loud a recording is, as broadcast WAV notes it: hundredths of the usual units
/// (EBU Tech 3285, version 2).
struct BroadcastLoudness {
  let integrated: Int16
  let range: Int16
  let truePeak: Int16
  let momentary: Int16
  let shortTerm: Int16

  /// What stands for a value that is not known, or that the field cannot hold.
  private static let unknown: Int16 = 0x7FFF

  init(
    integrated: Double? = nil, range: Double? = nil, truePeak: Double? = nil,
    momentary: Double? = nil, shortTerm: Double? = nil
  ) {
    self.integrated = Self.hundredths(integrated)
    self.range = Self.hundredths(range)
    self.truePeak = Self.hundredths(truePeak)
    self.momentary = Self.hundredths(momentary)
    self.shortTerm = Self.hundredths(shortTerm)
  }

  private static func hundredths(_ value: Double?) -> Int16 {
    guard let value, abs(value) <= 99.99 else { return unknown }
    return Int16(rounding: value * 100)
  }
}

/// When the first frame of a recording was captured, as broadcasters note it (EBU Tech 3285): by the
/// local clock, and as a number of frames since local midnight.
public struct Origination: Sendable, Equatable {
  /// The local date, as in 2026-11-21.
  public let date: String
  /// The local time, as in 20:47:37.
  public let time: String
  /// Frames between local midnight, by the clock on the wall, and the first frame.
  public let timeReference: Int

  /// The time `nanoseconds` nanoseconds after the beginning of 1970 (UTC), in the time zone of this
  /// process, for a file of `sampleRate` frames a second.
  public init(nanosecondsSinceEpoch: UInt64, sampleRate: Int) {
    let local = LocalTime(nanosecondsSinceEpoch)
    date = local.formatted("%Y-%m-%d")
    time = local.formatted("%H:%M:%S")
    let nanoseconds = Int(nanosecondsSinceEpoch % 1_000_000_000)
    // More than any file has, and few enough to multiply.
    let rate = min(max(0, sampleRate), 1 << 31)
    timeReference = local.secondOfDay * rate + nanoseconds * rate / 1_000_000_000
  }
}

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
    // Nothing is written of what is too long, and nothing comes of some words: a point tells them apart.
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

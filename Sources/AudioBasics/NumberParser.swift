/// Parser of numbers as people and files write them, used for the command line, settings, simulated
/// devices, addresses and playlists. Accepts ASCII digits only, and no exponents or infinities. The
/// length of the text is limited, so that parsing never takes long.
package enum NumberParser {
  /// The longest accepted text in bytes; no real number needs more.
  private static let maximumByteCount = 40

  /// Parses `-6`, `1.5`, `.5`, `+3`; returns nil for anything else.
  package static func decimal(_ text: some StringProtocol) -> Double? {
    guard isNumber(text, points: 1) else { return nil }
    return Double(String(text))
  }

  /// Parses `-6`, `48000`, `+3`; returns nil for anything else, and for numbers outside of `Int`.
  package static func whole(_ text: some StringProtocol) -> Int? {
    guard isNumber(text, points: 0) else { return nil }
    return Int(String(text))
  }

  /// Parses a rate in Hz: `48000`, `48k`, `44.1k`, with or without `Hz` after it.
  package static func hertz(_ text: some StringProtocol) -> Double? {
    guard text.utf8.count <= maximumByteCount else { return nil }
    var number = text.lowercased()[...]
    if number.hasSuffix("hz") { number.removeLast(2) }
    guard number.last == "k" else { return decimal(number) }
    return decimal(number.dropLast()).map { $0 * 1000 }
  }

  /// Parses a rate in Hz as `hertz` does; returns nil if it is not a whole number.
  package static func wholeHertz(_ text: some StringProtocol) -> Int? {
    hertz(text).flatMap { Int(exactly: ($0 * 1000).rounded() / 1000) }
  }

  private static func isNumber(_ text: some StringProtocol, points: Int) -> Bool {
    guard text.utf8.count <= maximumByteCount else { return false }
    var digits = 0
    var points = points
    for (index, byte) in text.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
      case UInt8(ascii: ".") where points > 0: points -= 1
      case UInt8(ascii: "+") where index == 0, UInt8(ascii: "-") where index == 0: break
      default: return false
      }
    }
    return digits > 0
  }
}

/// A time as people write it: `90`, `1.5`, `90s`, `500ms`, `2m`, `1h30m`, `1:30`, `0:01:30.5`, or
/// `48000f` in frames.
///
/// At most 10^9 s or 10^15 frames. At 768 kHz, the highest rate, this is less than 2^50 frames:
/// sums of a thousand of them, and their conversion from 1 kHz to any rate, fit in an `Int`.
package enum ParsedTime: Sendable, Equatable {
  case seconds(Double)
  case frames(Double)

  package static let maximumSeconds = 1e9
  package static let maximumFrames = 1e15

  /// Parses `text`. Nil if it is not a time, is negative or is too long.
  package init?(_ text: some StringProtocol) {
    guard text.utf8.count <= 64 else { return nil }
    if text.hasSuffix("f") {
      guard let frames = Self.unsigned(text.dropLast()), frames <= Self.maximumFrames else {
        return nil
      }
      self = .frames(frames)
    } else {
      guard let seconds = text.contains(":") ? Self.clock(text) : Self.units(text),
        seconds <= Self.maximumSeconds
      else { return nil }
      self = .seconds(seconds)
    }
  }

  /// Whether the duration is independent of the sample rate.
  package var isSeconds: Bool {
    if case .seconds = self { true } else { false }
  }

  /// Returns the time in seconds at `rate` frames per second.
  package func seconds(at rate: Int) -> Double {
    switch self {
    case .seconds(let seconds): seconds
    case .frames(let frames): frames / Double(max(1, rate))
    }
  }

  /// Returns the time in frames at `rate` frames per second, possibly with a fraction.
  package func frames(at rate: Int) -> Double {
    switch self {
    case .seconds(let seconds): seconds * Double(rate)
    case .frames(let frames): frames
    }
  }

  /// Returns the time in frames at `rate` frames per second, rounded to the nearest whole number.
  package func frameCount(at rate: Int) -> Int { Int(rounding: frames(at: rate)) }

  /// Parses `1:30` and `0:01:30.5`; returns seconds, or nil for anything else.
  private static func clock(_ text: some StringProtocol) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      guard let value = unsigned(part), index == 0 || value < 60, isLast || !part.contains(".")
      else { return nil }
      seconds = seconds * 60 + value
    }
    return seconds
  }

  /// Parses `90`, `90s`, `500ms`, `1h30m`: numbers with units in descending order; a single number
  /// may have no unit. Returns seconds, or nil for anything else.
  private static func units(_ text: some StringProtocol) -> Double? {
    if let seconds = unsigned(text) { return seconds }
    var rest = text[...]
    var total = 0.0
    var last = Double.infinity
    while !rest.isEmpty {
      let number = rest.prefix { $0.isNumber || $0 == "." }
      rest = rest.dropFirst(number.count)
      let unit = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(unit.count)
      guard let value = unsigned(number), let milliseconds = milliseconds[String(unit)],
        milliseconds < last
      else { return nil }
      last = milliseconds
      total += value * milliseconds
    }
    return text.isEmpty ? nil : total / 1000
  }

  private static let milliseconds = [
    "w": 604_800_000.0, "d": 86_400_000, "h": 3_600_000, "m": 60000, "min": 60000, "s": 1000,
    "ms": 1,
  ]

  private static func unsigned(_ text: some StringProtocol) -> Double? {
    guard let first = text.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else {
      return nil
    }
    return NumberParser.decimal(text)
  }
}

import Glibc

extension Gain: CustomStringConvertible {
  /// The accepted gains in decibels.
  public static let decibelRange = -200.0...60.0

  /// Creates a gain of `decibels`: silence at -200 and below, at most 60.
  public init(decibels: Double) {
    let decibels = decibels.clamped(to: Self.decibelRange)
    let isSilent = decibels == Self.decibelRange.lowerBound
    self.init(factor: isSilent ? 0 : Float(pow(10, decibels / 20)))
  }

  /// Parses a gain in dB as people write it: `-6`, `1.5`. Nil if `text` is not a number or is out
  /// of range.
  package init?(_ text: some StringProtocol) {
    guard let decibels = NumberParser.decimal(text), Self.decibelRange.contains(decibels) else {
      return nil
    }
    self.init(decibels: decibels)
  }

  /// The gain in dB; -200 for silence.
  public var decibels: Double { Decibels.level(factor) }

  /// The gain in dB to two digits: `-6.02 dB`.
  public var description: String { "\((decibels * 100).rounded() / 100) dB" }
}

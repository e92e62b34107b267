import Glibc

extension Gain: CustomStringConvertible {
  /// The decibels that a gain may be asked for.
  public static let decibelRange = -200.0...60.0

  /// A gain of `decibels`: silence from -200 downwards, and 60 at the most.
  public init(decibels: Double) {
    let decibels = decibels.clamped(to: Self.decibelRange)
    let isSilent = decibels == Self.decibelRange.lowerBound
    self.init(factor: isSilent ? 0 : Float(pow(10, decibels / 20)))
  }

  /// A gain as people write it, in dB: `-6`, `1.5`; nil for what is no number or out of range.
  package init?(_ text: some StringProtocol) {
    guard let decibels = WrittenNumber.decimal(text), Self.decibelRange.contains(decibels) else {
      return nil
    }
    self.init(decibels: decibels)
  }

  /// The gain in dB; -200 for silence.
  public var decibels: Double { Decibels.level(factor) }

  /// The gain in dB to two digits: `-6.02 dB`.
  public var description: String { "\((decibels * 100).rounded() / 100) dB" }
}

import Glibc

/// Levels of amplitudes in decibels: 20 log10 of the amplitude, full scale being 1.
/// Any thread but the audio thread, for which there is `RealtimeDecibels`.
public enum Decibels {
  /// The level of `amplitude` in dBFS; `floor` for silence.
  public static func level(_ amplitude: Float, floor: Double = -200) -> Double {
    amplitude > 0 ? max(floor, 20 * log10(Double(amplitude))) : floor
  }
}

extension Comparable {
  /// The nearest value in `range`; its lower bound for what is no number.
  package func clamped(to range: ClosedRange<Self>) -> Self {
    min(max(range.lowerBound, self), range.upperBound)
  }
}

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

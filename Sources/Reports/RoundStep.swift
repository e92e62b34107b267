import Glibc

/// A step between ticks that people count in: 1, 2 or 5 times a power of ten.
struct RoundStep: Sendable {
  private var mantissa: Int
  private var exponent: Int

  /// The smallest round step that is no smaller than `value`.
  init(atLeast value: Double) {
    let exponent = log10(max(value, 1e-12)).rounded(.down)
    let ratio = value / pow(10, exponent)
    self.exponent = Int(clamping: exponent)
    // The tolerance keeps a step of 5 from becoming 10 by the rounding of the logarithm.
    mantissa = [1, 2, 5].first { Double($0) >= ratio - 1e-9 } ?? 10
    if mantissa == 10 { (mantissa, self.exponent) = (1, self.exponent + 1) }
  }

  /// The next larger round step.
  var next: RoundStep {
    var step = self
    switch mantissa {
    case 1: step.mantissa = 2
    case 2: step.mantissa = 5
    default: (step.mantissa, step.exponent) = (1, exponent + 1)
    }
    return step
  }

  var value: Double { multiple(1) }

  var isPowerOfTen: Bool { mantissa == 1 }

  /// How many digits after the point a multiple of this step needs.
  var decimals: Int { max(0, -exponent) }

  /// `count` steps; divided where that is more exact, for 3 * 0.1 is not 0.3.
  func multiple(_ count: Int) -> Double {
    let units = Double(count) * Double(mantissa)
    let power = pow(10, Double(abs(exponent)))
    return exponent < 0 ? units / power : units * power
  }

  /// `count` steps as text, with an exponent where that is shorter.
  func label(_ count: Int) -> String {
    let units = count * mantissa
    guard units != 0 else { return "0" }
    let isShort = abs(units) < 10000
    let text =
      isShort && !(-4..<5).contains(exponent)
      ? "\(units)e\(exponent)" : NumberText.fixed(multiple(count), decimals: decimals)
    return NumberText.typeset(text)
  }
}

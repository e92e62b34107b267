import Glibc

/// Where values lie along a line of pixels.
struct Axis: Sendable {
  let lower: Double
  let upper: Double
  /// The pixel of `lower`, and that of `upper`: the smaller one on a vertical axis.
  let start: Double
  let end: Double
  /// Whether equal distances are equal ratios. Then both bounds are above zero.
  let isLogarithmic: Bool

  /// An axis over `values`, widened where they are all one, for a range of zero has no scale.
  init(
    covering values: [Double], start: Double, end: Double, margin: Double = 0,
    isLogarithmic: Bool = false
  ) {
    let values = values.filter { $0.isFinite && (!isLogarithmic || $0 > 0) }
    let lower = values.min() ?? (isLogarithmic ? 1 : 0)
    let upper = values.max() ?? 1
    self.start = start
    self.end = end
    self.isLogarithmic = isLogarithmic
    if isLogarithmic {
      self.lower = lower
      self.upper = max(upper, lower * 2)
    } else {
      // Beyond nine digits neighbouring values become one.
      let least = max(lower.magnitude, upper.magnitude, 1) * 1e-9
      let added = max((upper - lower) * margin, (least - (upper - lower)) / 2, 0)
      self.lower = lower - added
      self.upper = upper + added
    }
  }

  /// The pixel of `value`, kept within the axis.
  func position(of value: Double) -> Double {
    let share = (scaled(value) - scaled(lower)) / (scaled(upper) - scaled(lower))
    return start + min(max(share, 0), 1) * (end - start)
  }

  /// Whether `value` lies on the axis.
  func contains(_ value: Double) -> Bool { value >= lower && value <= upper }

  /// Pixels from end to end.
  var length: Double { abs(end - start) }

  /// The same line of pixels in another unit, `factor` of which are one of this.
  func converted(by factor: Double) -> Axis {
    Axis(
      covering: [lower * factor, upper * factor], start: start, end: end,
      isLogarithmic: isLogarithmic)
  }

  private func scaled(_ value: Double) -> Double {
    isLogarithmic ? log10(max(value, lower)) : value
  }
}

/// A value worth naming on an axis.
struct Tick: Sendable {
  let position: Double
  let label: String
}

extension Axis {
  /// Round values along a horizontal axis, as many as have room for their labels.
  func ticks() -> [Tick] {
    guard !isLogarithmic else { return decadeTicks() }
    return evenTicks(atLeast: 44) { labels in
      (labels.map(TextStyle.tick.width(of:)).max() ?? 0) + 14
    }
  }

  /// Round values along a vertical axis.
  func verticalTicks() -> [Tick] { evenTicks(atLeast: 20) { _ in 0 } }

  /// Whole numbers along a vertical axis, for counts.
  func countTicks() -> [Tick] {
    evenTicks(atLeast: max(26, length / max(upper - lower, 1))) { _ in 0 }
  }

  /// Multiples of the smallest round step that leaves `pixels`, and what the labels need, between.
  private func evenTicks(atLeast pixels: Double, room: ([String]) -> Double) -> [Tick] {
    let pixelsPerUnit = length / (upper - lower)
    var step = RoundStep(atLeast: pixels / pixelsPerUnit)
    while true {
      let counts = multiples(of: step)
      let labels = counts.map(step.label)
      guard labels.count > 1, room(labels) > step.value * pixelsPerUnit else {
        return zip(counts, labels).map { count, label in
          Tick(position: position(of: step.multiple(count)), label: label)
        }
      }
      step = step.next
    }
  }

  private func multiples(of step: RoundStep) -> [Int] {
    // A tick on the very bound must not fall victim to rounding.
    let first = (lower / step.value - 1e-6).rounded(.up)
    let last = (upper / step.value + 1e-6).rounded(.down)
    return first <= last ? Array(Int(clamping: first)...Int(clamping: last)) : []
  }

  /// 1, 2 and 5 times the powers of ten, or where they would touch, the powers alone.
  private func decadeTicks() -> [Tick] {
    var steps = [RoundStep(atLeast: lower)]
    while let next = steps.last?.next, next.value <= upper * (1 + 1e-9) { steps.append(next) }
    let ticks = ticks(at: steps)
    let haveRoom = zip(ticks, ticks.dropFirst()).allSatisfy { one, other in
      let labels = TextStyle.tick.width(of: one.label) + TextStyle.tick.width(of: other.label)
      return other.position - one.position > labels / 2 + 8
    }
    return haveRoom ? ticks : self.ticks(at: steps.filter(\.isPowerOfTen))
  }

  private func ticks(at steps: [RoundStep]) -> [Tick] {
    steps.map { Tick(position: position(of: $0.value), label: $0.label(1)) }
  }
}

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

import Glibc

/// An axis of a plot: the pixel position of each value, on a linear or logarithmic scale.
struct Axis {
  let lower: Double
  let upper: Double
  /// The pixels of `lower` and `upper`. On a vertical axis, `end` is the smaller one.
  let start: Double
  let end: Double
  /// Whether equal distances are equal ratios. Both bounds are then above zero.
  let isLogarithmic: Bool

  /// Creates an axis over `values`. The range is widened if all values are equal, because a range
  /// of zero has no scale.
  init(
    covering values: [Double], start: Double, end: Double, margin: Double = 0,
    isLogarithmic: Bool = false
  ) {
    let values = values.filter { $0.isFinite && (!isLogarithmic || $0 > 0) }
    let lower = values.min() ?? (isLogarithmic ? 1 : 0)
    let upper = values.max() ?? 1
    // Beyond nine digits, neighbouring values become equal.
    let minimum = max(lower.magnitude, upper.magnitude, 1) * 1e-9
    let added =
      isLogarithmic ? 0 : max((upper - lower) * margin, (minimum - (upper - lower)) / 2, 0)
    self.lower = lower - added
    self.upper = isLogarithmic ? max(upper, lower * 2) : upper + added
    self.start = start
    self.end = end
    self.isLogarithmic = isLogarithmic
  }

  /// Returns the pixel of `value`, limited to the axis.
  func position(of value: Double) -> Double {
    let share = (scaled(value) - scaled(lower)) / (scaled(upper) - scaled(lower))
    return start + min(max(share, 0), 1) * (end - start)
  }

  /// Returns whether `value` is on the axis.
  func contains(_ value: Double) -> Bool { value >= lower && value <= upper }

  /// Returns the same axis in another unit. One unit of this axis is `factor` of the other.
  func converted(by factor: Double) -> Axis {
    Axis(
      covering: [lower * factor, upper * factor], start: start, end: end,
      isLogarithmic: isLogarithmic)
  }

  private func scaled(_ value: Double) -> Double {
    isLogarithmic ? log10(max(value, lower)) : value
  }
}

/// A labelled value on an axis.
struct Tick {
  let position: Double
  let label: String
}

extension Axis {
  /// Returns round values along a horizontal axis, as many as have room for their labels.
  func ticks() -> [Tick] {
    isLogarithmic ? decadeTicks() : evenTicks(apart: 44, labelsNeedRoom: true)
  }

  /// Returns round values along a vertical axis.
  func verticalTicks() -> [Tick] { evenTicks(apart: 20) }

  /// Returns whole numbers along a vertical axis, for counts.
  func countTicks() -> [Tick] { evenTicks(apart: max(26, pixelsPerUnit)) }

  private var pixelsPerUnit: Double { abs(end - start) / max(upper - lower, 1e-300) }

  /// Returns multiples of the smallest round step that leaves `pixels` and, if `labelsNeedRoom`,
  /// the room for the labels between ticks.
  private func evenTicks(apart pixels: Double, labelsNeedRoom: Bool = false) -> [Tick] {
    var step = RoundStep(atLeast: pixels / pixelsPerUnit)
    while true {
      // A tick at the bound itself must not be lost by rounding.
      let first = Int(clamping: (lower / step.value - 1e-6).rounded(.up))
      let last = Int(clamping: (upper / step.value + 1e-6).rounded(.down))
      let ticks = (first..<max(first, last + 1)).map {
        Tick(position: position(of: step.multiple($0)), label: step.label($0))
      }
      let widest = ticks.map { TextStyle.tick.width(of: $0.label) }.max() ?? 0
      guard labelsNeedRoom, ticks.count > 1, widest + 14 > step.value * pixelsPerUnit else {
        return ticks
      }
      step = step.next
    }
  }

  /// Returns 1, 2 and 5 times the powers of ten, or the powers alone if the labels would touch.
  private func decadeTicks() -> [Tick] {
    let steps = Array(
      sequence(first: RoundStep(atLeast: lower)) { $0.next }
        .prefix { $0.value <= upper * (1 + 1e-9) })
    let ticks = steps.map { Tick(position: position(of: $0.value), label: $0.label(1)) }
    let haveRoom = zip(ticks, ticks.dropFirst()).allSatisfy { one, other in
      let labels = TextStyle.tick.width(of: one.label) + TextStyle.tick.width(of: other.label)
      return other.position - one.position > labels / 2 + 8
    }
    return zip(steps, ticks).filter { haveRoom || $0.0.isPowerOfTen }.map(\.1)
  }
}

/// A round step between ticks: 1, 2 or 5 times a power of ten.
struct RoundStep {
  /// The index of the step: 0 is 1, then 2, 5, 10, 20.
  private var index: Int

  /// Creates the smallest round step that is no smaller than `value`.
  init(atLeast value: Double) {
    index = 3 * Int(clamping: log10(max(value, 1e-12)).rounded(.down))
    // The tolerance prevents a step of 5 from becoming 10 by the rounding of the logarithm.
    while self.value < value * (1 - 1e-9) { index += 1 }
  }

  /// The next larger round step.
  var next: RoundStep {
    var step = self
    step.index += 1
    return step
  }

  var value: Double { multiple(1) }

  var isPowerOfTen: Bool { mantissa == 1 }

  private var exponent: Int { index >= 0 ? index / 3 : (index - 2) / 3 }

  private var mantissa: Int { [1, 2, 5][index - 3 * exponent] }

  /// Returns `count` steps. It divides by powers of ten for accuracy, since 3 * 0.1 is not 0.3.
  func multiple(_ count: Int) -> Double {
    let units = Double(count) * Double(mantissa)
    let power = pow(10, Double(abs(exponent)))
    return exponent < 0 ? units / power : units * power
  }

  /// Returns `count` steps as text, with an exponent for very large or small values.
  func label(_ count: Int) -> String {
    let units = count * mantissa
    guard units != 0 else { return "0" }
    guard abs(units) < 10000, !(-4..<5).contains(exponent) else {
      return NumberText.fixed(multiple(count), decimals: max(0, -exponent))
    }
    return NumberText.fixed(Double(units), decimals: 0) + "e\(exponent)"
  }
}

extension BinaryFloatingPoint {
  /// Whether a measured value can be drawn: it is a number, and its magnitude is at most 1e9.
  ///
  /// The bound keeps values computed from it within the range of integers.
  var isDrawable: Bool { magnitude <= 1e9 }
}

/// Numbers as text, with the typographic minus sign, which is as wide as a plus.
enum NumberText {
  /// Returns `value` rounded to `decimals` digits after the point.
  static func fixed(_ value: Double, decimals: Int) -> String {
    let count = min(max(decimals, 0), 9)
    let units = Int(rounding: value.magnitude * pow(10, Double(count)))
    var digits = String(units)
    digits = String(repeating: "0", count: max(0, count + 1 - digits.count)) + digits
    return (value < 0 && units != 0 ? "\u{2212}" : "") + digits.dropLast(count)
      + (count > 0 ? "." + digits.suffix(count) : "")
  }

  /// Returns `value` rounded to at most `decimals` digits after the point, without trailing zeros.
  static func shortest(_ value: Double, decimals: Int) -> String {
    var text = fixed(value, decimals: decimals)
    guard text.contains(".") else { return text }
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text
  }

  /// Returns a coordinate in a picture, rounded to a hundredth of a pixel, finer than a screen
  /// shows.
  static func coordinate(_ value: Double) -> String {
    let text = "\((value * 100).rounded() / 100)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Returns the number of decimals that show two significant digits of `value`: at least 1, at
  /// most 6.
  static func decimals(for value: Double) -> Int {
    guard value.isDrawable, value != 0 else { return 2 }
    return min(max(1 - Int(clamping: log10(value.magnitude).rounded(.down)), 1), 6)
  }
}

/// A frame rate, and numbers of frames as text.
struct FrameRate {
  /// The duration of a frame in milliseconds.
  let millisecondsPerFrame: Double

  init(_ sampleRate: Int) {
    millisecondsPerFrame = 1000 / Double(max(1, sampleRate))
  }

  /// Returns text such as "293.02 frames".
  func frames(_ frames: Double, decimals: Int = 2) -> String {
    guard frames.isDrawable else { return "not measured" }
    let text = NumberText.shortest(frames, decimals: decimals)
    return text + (text == "1" ? " frame" : " frames")
  }

  /// Returns text such as "6.105 ms".
  func milliseconds(_ frames: Double) -> String {
    guard frames.isDrawable else { return "not measured" }
    return NumberText.fixed(frames * millisecondsPerFrame, decimals: 3) + " ms"
  }

  /// Returns text such as "293.02 frames (6.105 ms)".
  func span(_ frames: Double) -> String {
    guard frames.isDrawable else { return "not measured" }
    return self.frames(frames) + " (" + milliseconds(frames) + ")"
  }
}

import Glibc

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

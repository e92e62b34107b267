import ArgumentParser

/// A time as sox writes it: seconds `90`, `1:30`, `0:01:30.5`, or frames `48000s`.
enum TimeOption: ExpressibleByArgument, Equatable {
  case seconds(Double)
  case frames(Int)

  init?(argument: String) {
    if argument.hasSuffix("s"), let frames = Int(argument.dropLast()) {
      guard frames >= 0 else { return nil }
      self = .frames(frames)
      return
    }
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      guard let first = part.first, first.isNumber || (isLast && first == "."),
        let value = isLast ? Double(part) : Int(part).map(Double.init), value.isFinite,
        index == 0 || value < 60
      else { return nil }
      seconds = seconds * 60 + value
    }
    guard seconds < 1e9 else { return nil }
    self = .seconds(seconds)
  }

  /// Frames it comes to at `rate`, to the nearest.
  func frameCount(at rate: Int) -> Int {
    switch self {
    case .seconds(let seconds): Int(rounding: seconds * Double(rate))
    case .frames(let frames): frames
    }
  }
}

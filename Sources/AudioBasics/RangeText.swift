extension ClosedRange<Int> {
  /// The range in a message: `8000 to 768000`.
  package var boundsText: String { "\(lowerBound) to \(upperBound)" }
}

extension ClosedRange<Double> {
  /// The range in a message, whole numbers without a point: `0.25 to 4`.
  package var boundsText: String { "\(lowerBound.boundText) to \(upperBound.boundText)" }
}

extension Double {
  /// The end of a range in a message, a whole number without a point: `4`.
  package var boundText: String {
    self == rounded() ? "\(Int(clamping: self))" : "\(self)"
  }
}

extension Collection<String> {
  /// The list in a message: `s16, s24, s32 or float`.
  package var alternatives: String {
    let others = dropLast().joined(separator: ", ")
    return ([others].filter { !$0.isEmpty } + suffix(1)).joined(separator: " or ")
  }
}

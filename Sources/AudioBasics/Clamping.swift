extension Comparable {
  /// Returns the nearest value in `range`; the lower bound of `range` for not a number (NaN).
  package func clamped(to range: ClosedRange<Self>) -> Self {
    min(max(range.lowerBound, self), range.upperBound)
  }
}

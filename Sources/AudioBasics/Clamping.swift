extension Comparable {
  /// The nearest value in `range`; its lower bound for what is no number.
  package func clamped(to range: ClosedRange<Self>) -> Self {
    min(max(range.lowerBound, self), range.upperBound)
  }
}

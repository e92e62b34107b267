/// How many values fall into each of the bins, whose centres are round values.
struct Histogram: Sendable {
  let firstEdge: Double
  let binWidth: Double
  let counts: [Int]

  /// Counts the numbers among `values`; no bins without any.
  init(_ values: [Double]) {
    let values = values.filter(\.isDrawable)
    guard let least = values.min(), let greatest = values.max() else {
      (firstEdge, binWidth, counts) = (0, 1, [])
      return
    }
    // Few values need few bins, and more than 24 are no clearer.
    let target = min(max(2 * Double(values.count).squareRoot(), 8), 24).rounded()
    // No narrower than an axis can show; equal values share one bin of a hundredth.
    let finest = max(least.magnitude, greatest.magnitude, 1) * 1e-7
    let spread = greatest > least ? (greatest - least) / target : 0.01
    let width = RoundStep(atLeast: max(spread, finest)).value
    let first = (least / width).rounded()
    var counts = [Int](repeating: 0, count: Int(clamping: (greatest / width).rounded() - first) + 1)
    for value in values { counts[Int(clamping: (value / width).rounded() - first)] += 1 }
    (firstEdge, binWidth, self.counts) = ((first - 0.5) * width, width, counts)
  }

  /// The value where bin `index` begins, and the one before it ends.
  func edge(_ index: Int) -> Double { firstEdge + Double(index) * binWidth }
}

/// Labels beside marks on an axis, in rows where none touches another.
struct ArrivalLabels: Sendable {
  /// A label with its mark; the row counts from the top, nil where no row had room.
  struct Label: Sendable {
    let lag: Double
    let position: Double
    let text: String
    let row: Int?
    let anchor: TextStyle.Anchor
  }

  static let rowHeight = 15.0
  private static let rowCount = 3

  let labels: [Label]

  /// How many rows carry a label.
  var rows: Int { labels.compactMap(\.row).reduce(0) { max($0, $1 + 1) } }

  init(lags: [Double], axis: Axis) {
    var rightEnds = [Double](repeating: -.infinity, count: Self.rowCount)
    labels = lags.filter(\.isDrawable).sorted().map { lag in
      let text = NumberText.typeset(NumberText.shortest(lag, decimals: 2))
      let position = axis.position(of: lag)
      let width = TextStyle.mark.width(of: text) + 8
      let isLast = position + width > max(axis.start, axis.end)
      let left = isLast ? position - width : position
      let row = rightEnds.firstIndex { $0 < left }
      if let row { rightEnds[row] = left + width }
      return Label(
        lag: lag, position: position, text: text, row: row, anchor: isLast ? .end : .start)
    }
  }
}

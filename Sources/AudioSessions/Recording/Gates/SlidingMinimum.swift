/// The lowest level of each band over a window that moves on piece by piece.
struct SlidingMinimum: Sendable {
  private var pieces: [BandLevels]
  private let pieceLength: Int
  private var heard = 0

  /// A window of `pieceCount` pieces, each of them `pieceLength` values long: the latest is not yet
  /// whole.
  init(pieceLength: Int, pieceCount: Int) {
    self.pieceLength = pieceLength
    pieces = Array(repeating: BandLevels(repeating: .infinity), count: pieceCount)
  }

  mutating func hear(_ levels: BandLevels) {
    let piece = heard / pieceLength % pieces.count
    if heard % pieceLength == 0 { pieces[piece] = BandLevels(repeating: .infinity) }
    pieces[piece] = pointwiseMin(pieces[piece], levels)
    heard += 1
  }

  /// Infinite while nothing was heard.
  var lowest: BandLevels {
    var lowest = pieces[0]
    for piece in pieces { lowest = pointwiseMin(lowest, piece) }
    return lowest
  }
}

/// An estimate of one channel's noise level in each band: by minimum statistics (R. Martin, "Noise
/// power spectral density estimation based on optimal smoothing and minimum statistics", 2001).
///
/// Speech has pauses between syllables, so the lowest level of the last seconds is that of the
/// noise. The estimate falls at once and rises slowly. The mean of unsteady noise, such as distant
/// talk, is above its lowest level; the lowest mean of 500 ms shows by how much.
struct NoiseFloor: Sendable {
  /// The estimated level of the noise in each band, and its unsteadiness.
  struct Estimate: Sendable {
    /// The mean in each band, in dBFS.
    var levels: BandLevels
    /// The difference between the mean and the lowest level, beyond that of steady noise: in
    /// decibels, averaged over the bands.
    var unrest: Double
  }

  /// The number of blocks until the first estimate: 300 ms.
  static let firstBlocks = 30
  /// The minimum noise level per band: lower levels are digital silence.
  private static let lowestDBFS = -85.0
  /// The largest increase in decibels per block: 6 dB per second.
  private static let risePerBlock = 0.06
  /// The maximum unsteadiness in decibels: more is speech without pauses. In a new recording the
  /// maximum increases by `unrestPerBlock` with each block, because a recording that begins with
  /// speech contains no pause yet.
  private static let maximumUnrest = 8.0
  private static let unrestPerBlock = 0.008
  /// Means of 50 ms: a minimum of single blocks would be far below the noise.
  private static let dipBlocks = 5
  /// Means of 500 ms, one every 100 ms.
  private static let restTenths = 5

  private var dips = SlidingMean(count: dipBlocks)
  private var lowestDips = SlidingMinimum(pieceLength: 50, pieceCount: 8)
  private var tenths = SlidingMean(count: 10)
  private var rests = SlidingMean(count: restTenths)
  private var lowestRests = SlidingMinimum(pieceLength: 10, pieceCount: 10)
  private var blockCount = 0
  private let bias: BandLevels
  private var lowest: BandLevels?
  /// The present estimate; nil until there were enough blocks.
  private(set) var estimate: Estimate?

  /// Creates a floor for blocks of `blockSeconds` of bands that are `bandwidths` Hz wide.
  init(bandwidths: BandLevels, blockSeconds: Double) {
    // The power of noise deviates by 10 / ln 10 * sqrt(1 / BT) dB. The lowest of the about eighty
    // means of a window is 2.5 deviations below the mean of all.
    let freedom = bandwidths * (blockSeconds * Double(Self.dipBlocks))
    bias = 2.5 * 4.343 / freedom.squareRoot()
  }

  /// Adds the levels of the next block; blocks of digital silence must be left out.
  mutating func add(_ block: BandLevels) {
    blockCount += 1
    // The first block may be half silence and half signal.
    guard blockCount > 1 else { return }
    dips.add(block)
    if let dip = dips.mean { lowestDips.add(dip) }
    tenths.add(block)
    if blockCount % 10 == 0, let tenth = tenths.mean {
      rests.add(tenth)
      if let rest = rests.mean { lowestRests.add(rest) }
    }
    if blockCount >= Self.firstBlocks { conclude() }
  }

  private mutating func conclude() {
    let target = pointwiseMax(lowestDips.lowest + bias, BandLevels(repeating: Self.lowestDBFS))
    let floor = lowest.map { pointwiseMin(target, $0 + Self.risePerBlock) } ?? target
    lowest = floor
    let maximum = min(Self.maximumUnrest, Double(blockCount) * Self.unrestPerBlock)
    let rest = lowestRests.lowest - floor
    let unrest = rest.clamped(
      lowerBound: BandLevels(repeating: 0), upperBound: BandLevels(repeating: maximum))
    estimate = Estimate(levels: floor + unrest, unrest: unrest.sum() / 4)
  }
}

/// The mean of each band's last levels.
struct SlidingMean: Sendable {
  private var levels: [BandLevels]
  private var blockCount = 0

  /// Creates the mean of the last `count` values.
  init(count: Int) {
    levels = Array(repeating: BandLevels(repeating: 0), count: count)
  }

  mutating func add(_ block: BandLevels) {
    levels[blockCount % levels.count] = block
    blockCount += 1
  }

  /// The mean; nil until `count` values were added.
  var mean: BandLevels? {
    guard blockCount >= levels.count else { return nil }
    var sum = BandLevels(repeating: 0)
    for block in levels { sum += block }
    return sum / Double(levels.count)
  }
}

/// The lowest level of each band over a window that advances piece by piece.
struct SlidingMinimum: Sendable {
  private var pieces: [BandLevels]
  private let pieceLength: Int
  private var blockCount = 0

  /// Creates a window of `pieceCount` pieces of `pieceLength` values each; the latest piece is not
  /// complete.
  init(pieceLength: Int, pieceCount: Int) {
    self.pieceLength = pieceLength
    pieces = Array(repeating: BandLevels(repeating: .infinity), count: pieceCount)
  }

  mutating func add(_ levels: BandLevels) {
    let piece = blockCount / pieceLength % pieces.count
    if blockCount % pieceLength == 0 { pieces[piece] = BandLevels(repeating: .infinity) }
    pieces[piece] = pointwiseMin(pieces[piece], levels)
    blockCount += 1
  }

  /// The lowest levels; infinite before the first value.
  var lowest: BandLevels {
    var lowest = pieces[0]
    for piece in pieces { lowest = pointwiseMin(lowest, piece) }
    return lowest
  }
}

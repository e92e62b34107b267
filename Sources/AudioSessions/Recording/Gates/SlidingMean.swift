/// The mean of each band's last levels.
struct SlidingMean: Sendable {
  private var levels: [BandLevels]
  private var heard = 0

  /// The mean of the last `count` values.
  init(count: Int) {
    levels = Array(repeating: BandLevels(repeating: 0), count: count)
  }

  mutating func hear(_ block: BandLevels) {
    levels[heard % levels.count] = block
    heard += 1
  }

  /// Nil until as many were heard as it goes over.
  var mean: BandLevels? {
    guard heard >= levels.count else { return nil }
    var sum = BandLevels(repeating: 0)
    for block in levels { sum += block }
    return sum / Double(levels.count)
  }
}

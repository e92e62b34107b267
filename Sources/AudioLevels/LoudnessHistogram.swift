import Glibc

/// The mean powers of any number of blocks of audio, sorted into bins of 0.01 LU. This is the data
/// that gating needs, in constant memory for any duration.
///
/// Each bin stores the sum of the powers of its blocks, so means are exact. Only the position of a
/// gate is rounded to bins of 0.01 LU.
struct LoudnessHistogram {
  /// The absolute gate of ITU-R BS.1770: quieter blocks do not count.
  private static let lowestLUFS = -70.0
  private static let binsPerLU = 100.0
  private static let binCount = 8000

  private var counts = [UInt32](repeating: 0, count: binCount)
  private var powers = [Double](repeating: 0, count: binCount)
  /// The range from the quietest bin with a block to the loudest one; the other bins are not
  /// searched.
  private var bins = binCount..<binCount
  private var blockCount = 0
  private var totalPower = 0.0

  /// Returns the loudness of a mean power, in LUFS.
  static func loudness(_ power: Double) -> Double { -0.691 + 10 * log10(power) }

  /// Adds a block with the mean power `power`.
  mutating func add(_ power: Double) {
    let loudness = Self.loudness(power)
    guard loudness >= Self.lowestLUFS else { return }
    let bin = min(Self.binCount - 1, Int(clamping: (loudness - Self.lowestLUFS) * Self.binsPerLU))
    counts[bin] += 1
    bins = min(bins.lowerBound, bin)..<(bins.isEmpty ? bin + 1 : max(bins.upperBound, bin + 1))
    powers[bin] += power
    blockCount += 1
    totalPower += power
  }

  /// Returns the bins above a gate that is `below` LU below the mean of all blocks, and the number
  /// of their blocks; nil if there are none.
  private func gated(below: Double) -> (bins: Range<Int>, count: Int)? {
    guard blockCount > 0 else { return nil }
    let threshold = totalPower / Double(blockCount) * pow(10, -below / 10)
    let first = bins.first { counts[$0] > 0 && powers[$0] / Double(counts[$0]) >= threshold }
    guard let first else { return nil }
    let gated = first..<bins.upperBound
    return (gated, counts[gated].reduce(0) { $0 + Int($1) })
  }

  /// The loudness of all blocks above the gate 10 LU below their mean, in LUFS. This is the
  /// integrated loudness if the blocks are 400 ms long. Nil if no block counts.
  var integrated: Double? {
    guard let (gated, count) = gated(below: 10) else { return nil }
    return Self.loudness(powers[gated].reduce(0, +) / Double(count))
  }

  /// The difference between the 10th and the 95th percentile of the blocks above the gate 20 LU
  /// below their mean, in LU. This is the loudness range of EBU Tech 3342 if the blocks are three
  /// seconds long. Nil if no block counts.
  var range: Double? {
    guard let (gated, count) = gated(below: 20) else { return nil }
    func level(_ share: Double) -> Double {
      var rest = Int(clamping: Double(count - 1) * share + 0.5)
      for bin in gated {
        if rest < Int(counts[bin]) { return Self.loudness(powers[bin] / Double(counts[bin])) }
        rest -= Int(counts[bin])
      }
      return 0
    }
    return level(0.95) - level(0.1)
  }
}

import Glibc

/// The mean powers of any number of blocks of sound, sorted into hundredths of a LU: what gates
/// need to know of them, in the same memory for a second as for a day.
///
/// Each bin keeps the sum of its blocks' powers: means are exact, whatever a gate decides within
/// the hundredth of a LU it lies in.
struct LoudnessHistogram {
  /// The absolute gate of ITU-R BS.1770: what is softer does not count.
  private static let lowestLUFS = -70.0
  private static let binsPerLU = 100.0
  private static let binCount = 8000

  private var counts = [UInt32](repeating: 0, count: binCount)
  private var powers = [Double](repeating: 0, count: binCount)
  /// From the softest bin that has a block to the loudest one: the others need not be looked at.
  private var bins = binCount..<binCount
  private var blockCount = 0
  private var totalPower = 0.0

  /// The loudness of a mean power, in LUFS.
  static func loudness(_ power: Double) -> Double { -0.691 + 10 * log10(power) }

  /// Counts a block of the mean power `power`.
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

  /// The bins above a gate that lies `below` LU below the mean of all blocks, and how many blocks
  /// these have; nil where there are none.
  private func gated(below: Double) -> (bins: Range<Int>, count: Int)? {
    guard blockCount > 0 else { return nil }
    let threshold = totalPower / Double(blockCount) * pow(10, -below / 10)
    let first = bins.first { counts[$0] > 0 && powers[$0] / Double(counts[$0]) >= threshold }
    guard let first else { return nil }
    let gated = first..<bins.upperBound
    return (gated, counts[gated].reduce(0) { $0 + Int($1) })
  }

  /// The loudness of all blocks above the gate 10 LU below their mean, in LUFS: the integrated
  /// loudness where they are 400 ms long. Nil where no block counts.
  var integrated: Double? {
    guard let (gated, count) = gated(below: 10) else { return nil }
    return Self.loudness(powers[gated].reduce(0, +) / Double(count))
  }

  /// From the softest tenth to the loudest twentieth of the blocks above the gate 20 LU below their
  /// mean, in LU: the loudness range of EBU Tech 3342 where they are three seconds long. Nil where
  /// no block counts.
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

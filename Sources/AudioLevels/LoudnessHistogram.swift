import Glibc

/// The mean powers of any number of blocks of sound, sorted into hundredths of a LU: what gates need to know of
/// them, in the same memory for a second as for a day.
///
/// Each bin keeps the sum of its blocks' powers: means are exact, whatever a gate decides within the
/// hundredth of a LU it lies in.
struct LoudnessHistogram {
  /// The absolute gate of ITU-R BS.1770: what is softer does not count.
  private static let lowestLUFS = -70.0
  private static let binsPerLU = 100.0
  private static let binCount = 8000

  private var counts = [UInt32](repeating: 0, count: binCount)
  private var powers = [Double](repeating: 0, count: binCount)
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
    powers[bin] += power
    blockCount += 1
    totalPower += power
  }

  /// The first bin above a gate that lies `below` LU below the mean of all blocks; nil where there are none.
  private func gate(below: Double) -> Int? {
    guard blockCount > 0 else { return nil }
    let threshold = totalPower / Double(blockCount) * pow(10, -below / 10)
    return counts.indices.first { counts[$0] > 0 && powers[$0] / Double(counts[$0]) >= threshold }
  }

  private func blocks(from gate: Int) -> Int { counts[gate...].reduce(0) { $0 + Int($1) } }

  /// The loudness of all blocks above the gate 10 LU below their mean, in LUFS: the integrated loudness where
  /// they are 400 ms long. Nil where no block counts.
  var integrated: Double? {
    guard let gate = gate(below: 10) else { return nil }
    let count = blocks(from: gate)
    return Self.loudness(powers[gate...].reduce(0, +) / Double(count))
  }

  /// From the softest tenth to the loudest twentieth of the blocks above the gate 20 LU below their mean, in LU:
  /// the loudness range of EBU Tech 3342 where they are three seconds long. Nil where no block counts.
  var range: Double? {
    guard let gate = gate(below: 20) else { return nil }
    let count = blocks(from: gate)
    func level(_ share: Double) -> Double {
      var rest = Int(clamping: Double(count - 1) * share + 0.5)
      for bin in gate..<Self.binCount {
        if rest < Int(counts[bin]) { return Self.loudness(powers[bin] / Double(counts[bin])) }
        rest -= Int(counts[bin])
      }
      return 0
    }
    return level(0.95) - level(0.1)
  }
}

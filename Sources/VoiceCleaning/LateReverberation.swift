import Glibc

/// How much of what is heard now is late reverberation: a room's answer to what it heard at least
/// 45 ms before.
///
/// Sound in a room falls by exp(-2 delta t) in power, delta = 3 ln 10 / T60: late is what was
/// reverberant a while ago and has fallen since (Lebart, Boucher, Denbigh, "A New Method Based on
/// Spectral Subtraction for Speech Dereverberation", 2001). What comes straight from the mouth is
/// not reverberant, and is counted out, by the ratio of direct to reverberant sound (Habets, Gannot,
/// Cohen, "Late Reverberant Spectral Variance Estimation Based on a Statistical Model", 2009).
struct LateReverberation {
  /// What is later than this, in seconds, is late: ears take what is earlier as part of the speech.
  private static let lateSeconds = 0.045
  /// Reverberant power over direct power: 1, as for a microphone at a room's critical distance.
  private static let reverberantRatio = 1.0

  /// How long powers are smoothed, in seconds to a ratio of 1 / e: those of single blocks are far
  /// more uneven than a room's.
  private static let smoothingSeconds = 0.015

  /// The late power of each bin.
  private(set) var power: [Float]
  private let blockSeconds: Double
  private let lateBlocks: Int
  private let smoothing: Float
  /// The power before, smoothed, and the part of each bin's power now that is reverberant.
  private var before: [Float]
  private var reverberant: [Float]
  /// The reverberant power of the last `lateBlocks` blocks, and whose turn it is.
  private var history: [Float]
  private var position = 0

  init(blockSeconds: Double, binCount: Int) {
    self.blockSeconds = blockSeconds
    lateBlocks = max(1, Int(rounding: Self.lateSeconds / blockSeconds))
    smoothing = Float(exp(-blockSeconds / Self.smoothingSeconds))
    power = Array(repeating: 0, count: binCount)
    before = power
    reverberant = power
    history = Array(repeating: 0, count: lateBlocks * binCount)
  }

  /// Takes in the power of a block's bins, in a room that falls by 60 dB in `decaySeconds`.
  mutating func follow(_ total: [Float], decaySeconds: Double) {
    let fall = pow(10, -6 * blockSeconds / decaySeconds)
    let share = min(1, Self.reverberantRatio * (1 - fall) / fall)
    let (kept, added) = (Float(fall * (1 - share)), Float(fall * share))
    let lateFall = Float(pow(fall, Double(lateBlocks - 1)))
    let binCount = power.count
    let newest = position * binCount
    position = (position + 1) % lateBlocks
    let oldest = position * binCount
    for bin in 0..<binCount {
      reverberant[bin] = kept * reverberant[bin] + added * before[bin]
      before[bin] = smoothing * before[bin] + (1 - smoothing) * total[bin]
      history[newest + bin] = reverberant[bin]
      power[bin] = lateFall * history[oldest + bin]
    }
  }
}

import Glibc

/// The share of one channel's signal that consists of tones with a constant frequency, as in music.
///
/// The harmonics of a voice change their frequency all the time; those of an instrument keep it as
/// long as a note lasts. Spectral peaks that stay at one frequency indicate music even under louder
/// speech (K. Seyerlehner, T. Pohle, M. Schedl, G. Widmer, "Automatic music detection in television
/// productions", 2007). A permanent tone, as of a fan, is noise and does not count.
struct ToneSteadiness: Sendable {
  /// A tone is steady if it was present 50, 100 and 150 ms ago.
  private static let lagBlocks = 5
  private static let lagCount = 3
  /// The most by which its frequency may have changed, in bins: 4 Hz for bins of 15.6 Hz.
  private static let tolerance: Float = 0.25
  /// The share of the sums that is kept from one block to the next: a time constant of a third of a
  /// second.
  private static let memory: Float = 0.97
  /// The limits of a tone's age: each block with the tone adds one, each without it subtracts one.
  /// A tone older than 6 s is noise.
  private static let maximumAge = 1200
  private static let noiseAge = 600
  /// A small power that keeps the logarithm finite.
  private static let minimumPower: Float = 1e-20

  /// The frequency of the peak in each bin, in bins, for each of the last blocks; negative if there
  /// is none.
  private var peaks: [[Float]]
  private var ages: [Int]
  private var blockCount = 0
  private var steadySum: Float = 0
  private var sum: Float = 0

  /// Creates an analysis for spectra of `binCount` bins.
  init(binCount: Int) {
    let count = Self.lagBlocks * Self.lagCount + 1
    peaks = Array(repeating: Array(repeating: -1, count: binCount), count: count)
    ages = Array(repeating: 0, count: binCount)
  }

  /// The share of steady tones in the amplitude of the peaks, from 0 to 1, over the last third of a
  /// second.
  var share: Float { sum > 0 ? steadySum / sum : 0 }

  /// Adds the power spectrum of the next block.
  mutating func add(_ power: [Float]) {
    let now = blockCount % peaks.count
    blockCount += 1
    var steady: Float = 0
    var all: Float = 0
    for bin in power.indices {
      peaks[now][bin] = -1
      ages[bin] = max(0, ages[bin] - 1)
    }
    var bin = 1
    while bin + 1 < power.count {
      defer { bin += 1 }
      guard power[bin] > power[bin - 1], power[bin] >= power[bin + 1] else { continue }
      let frequency = Self.frequency(ofPeakIn: bin, power)
      peaks[now][bin] = frequency
      let amplitude = power[bin].squareRoot()
      if isSteady(frequency, around: bin, at: now) {
        for near in bin - 1...bin + 1 { ages[near] = min(Self.maximumAge, ages[near] + 2) }
        if ages[bin] > Self.noiseAge { continue }
        steady += amplitude
      }
      all += amplitude
    }
    steadySum = Self.memory * steadySum + steady
    sum = Self.memory * sum + all
  }

  /// Returns the exact frequency of the peak in bins: the vertex of a parabola through three
  /// logarithms.
  private static func frequency(ofPeakIn bin: Int, _ power: [Float]) -> Float {
    let below = logf(power[bin - 1] + minimumPower)
    let peak = logf(power[bin] + minimumPower)
    let above = logf(power[bin + 1] + minimumPower)
    let curvature = below - 2 * peak + above
    return curvature < 0 ? Float(bin) + 0.5 * (below - above) / curvature : Float(bin)
  }

  private func isSteady(_ frequency: Float, around bin: Int, at now: Int) -> Bool {
    for lag in 1...Self.lagCount {
      let past = (now + peaks.count - lag * Self.lagBlocks) % peaks.count
      var isThere = false
      for near in bin - 1...bin + 1 where abs(peaks[past][near] - frequency) < Self.tolerance {
        isThere = true
      }
      if !isThere { return false }
    }
    return true
  }
}

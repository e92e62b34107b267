import AudioBasics
import Glibc

/// The power of four adjacent bands, in decibels or linear.
typealias BandLevels = SIMD4<Double>

/// A filter bank that splits one channel into four bands of speech, and adds up the power of each
/// over a block.
///
/// A vowel has most power in the lower bands, a sibilant only in the highest, where it would be
/// lost in the sum. A fourth-order high-pass and the slopes of the bands remove direct current,
/// rumble and mains hum below them. Double precision is necessary for a steep filter at 120 Hz with
/// 96 kHz.
struct SpeechBands: Sendable {
  /// The level below which a band counts as silent, in dBFS.
  static let silenceDBFS = -120.0

  private var rumble: (Biquad, Biquad)
  private var low: BandPass
  private var lowMiddle: BandPass
  private var highMiddle: BandPass
  private var high: BandPass
  private var power = BandLevels(repeating: 0)
  private var before = BandLevels(repeating: 0)
  private var frames = 0

  /// The width of each band in Hz.
  let bandwidths: BandLevels

  /// Creates bands for `sampleRate`, evenly spaced in pitch from 150 Hz to 6.5 kHz, or to the
  /// highest frequency that the rate allows.
  init(sampleRate: Int) {
    let rate = Double(sampleRate)
    let bottom = min(150, rate / 10)
    let step = pow(min(6500, 0.45 * rate) / bottom, 0.25)
    let edges = (0...4).map { bottom * pow(step, Double($0)) }
    // The poles of a fourth-order Butterworth filter.
    rumble = (
      Biquad(highPass: bottom * 0.8, quality: 0.5412, sampleRate: rate),
      Biquad(highPass: bottom * 0.8, quality: 1.3066, sampleRate: rate)
    )
    low = BandPass(from: edges[0], to: edges[1], sampleRate: rate)
    lowMiddle = BandPass(from: edges[1], to: edges[2], sampleRate: rate)
    highMiddle = BandPass(from: edges[2], to: edges[3], sampleRate: rate)
    high = BandPass(from: edges[3], to: edges[4], sampleRate: rate)
    bandwidths = BandLevels(
      edges[1] - edges[0], edges[2] - edges[1], edges[3] - edges[2], edges[4] - edges[3])
  }

  /// Processes every `stride`-th of `samples` within `range`.
  mutating func process(_ samples: Span<Float>, in range: Range<Int>, stride: Int) {
    var sums = (0.0, 0.0, 0.0, 0.0)
    var index = range.lowerBound
    while index < range.upperBound {
      let sample = rumble.1.next(rumble.0.next(Double(samples[index])))
      let first = low.next(sample)
      let second = lowMiddle.next(sample)
      let third = highMiddle.next(sample)
      let fourth = high.next(sample)
      sums.0 += first * first
      sums.1 += second * second
      sums.2 += third * third
      sums.3 += fourth * fourth
      index += stride
      frames += 1
    }
    power += BandLevels(sums.0, sums.1, sums.2, sums.3)
  }

  /// Returns the mean power of each band in this block and the previous one, in dBFS. Two blocks
  /// contain a whole period of the mains, whose buzz would otherwise make every other block loud.
  mutating func finishBlock() -> BandLevels {
    let latest = power / Double(max(1, frames))
    let mean = (latest + before) / 2
    before = latest.sum().isFinite ? latest : BandLevels(repeating: 0)
    power = BandLevels(repeating: 0)
    frames = 0
    // A single sample that is not a number (NaN) would stay in the filters.
    guard mean.sum().isFinite else {
      forget()
      return BandLevels(repeating: Self.silenceDBFS)
    }
    // Decayed filter states are cleared, because denormal numbers are slow.
    if mean.max() < 1e-24 { forget() }
    var levels = BandLevels(repeating: Self.silenceDBFS)
    for band in 0..<4 where mean[band] > 1e-12 { levels[band] = 10 * log10(mean[band]) }
    return levels
  }

  private mutating func forget() {
    rumble.0.reset()
    rumble.1.reset()
    low.forget()
    lowMiddle.forget()
    highMiddle.forget()
    high.forget()
  }
}

extension BandLevels {
  /// The level of all bands together in dBFS; the bands are in dBFS as well.
  var total: Double {
    var power = 0.0
    for band in 0..<4 { power += pow(10, self[band] / 10) }
    return 10 * log10(power)
  }
}

/// A fourth-order band-pass: two equal filters in series.
struct BandPass: Sendable {
  private var first: Biquad
  private var second: Biquad

  /// Creates a band whose edges, in Hz, pass at half their power.
  init(from bottom: Double, to top: Double, sampleRate: Double) {
    let centre = (bottom * top).squareRoot()
    // At the edges each of the two filters contributes half of the 3 dB, so it must be wider.
    let quality = centre / (top - bottom) * (2.0.squareRoot() - 1).squareRoot()
    first = Biquad(bandPass: centre, quality: quality, sampleRate: sampleRate)
    second = first
  }

  @inline(__always)
  mutating func next(_ sample: Double) -> Double {
    second.next(first.next(sample))
  }

  mutating func forget() {
    first.reset()
    second.reset()
  }
}

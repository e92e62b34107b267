// Audio thread.

import AudioBasics
import CVectors
import Glibc

/// The interpolation filters for the positions between two samples, and upper bounds for their
/// output.
///
/// The output is at most the highest magnitude of the samples times the L1 norm of the filter. It
/// is also close to the straight line between the two samples, which is not above the higher one.
/// Let r be the filter minus this line, x'' the second difference of the samples, and R the sums of
/// the sums of r. Summation by parts gives sum(r x) = sum(R x''), plus small terms at the end. If
/// the two values of x'' in the middle are known as well, the remaining error is small.
///
/// For signals with high second differences, such as white noise, this bound is above the
/// contribution of the taps far from the middle, which is at most their L1 norm times the highest
/// magnitude. In such signals many samples are near the peak. Sixteen positions at once are first
/// evaluated in 16 bits, and the filters only if the result plus its rounding error is above the
/// peak.
///
/// The filter of a position is the mirror image of the filter of the position with the same
/// distance to the other sample. Two samples with the same distance to the middle are therefore
/// added once, for the common part of their filters, and subtracted once, for the rest. The higher
/// of the two output magnitudes is the sum of the magnitudes of the two parts.
struct InterpolationFilters: ~Copyable {
  /// The number of frames before a block that are needed again.
  let reach: Int
  /// The largest L1 norm of the filters, at least 1 for unfiltered samples.
  private(set) var norm: Float = 1

  /// The number of samples from which each position is interpolated.
  private let taps: Int
  /// The filters, and their approximations by the four samples in the middle. For each two taps
  /// with the same distance to the middle, starting with the outermost ones: the coefficient of the
  /// position in the middle, then half the sum and half the difference of the coefficients of the
  /// positions around it, which may be zero. Each is repeated eight times.
  private let filters: SampleBuffer
  private let approximations: SampleBuffer
  /// The coefficients of the filters, three for each pair of taps, for evaluation in 16 bits.
  private let roundedFilters: UnsafeMutablePointer<Int16>
  /// The factors that give the error of the line, and of an approximation, from the highest second
  /// difference; and the factor of the highest magnitude that is added to both.
  private var lineError: Float = 0
  private var approximationError: Float = 0
  private var endError: Float = 0
  /// The largest L1 norm of the taps that a search in 16 bits omits at first, for the position in
  /// the middle and for those around it.
  private var outerNormOfMiddle: Float = 0
  private var outerNormAround: Float = 0
  /// The number of next blocks whose second differences are not computed: they rarely become low
  /// from one block to the next.
  private var assumedRoughBlocks = 0

  /// Creates the filters for `sampleRate`.
  init(sampleRate: Int) {
    let factor = sampleRate < 96_000 ? 4 : sampleRate < 192_000 ? 2 : 1
    let phases = factor - 1
    let taps = phases > 0 ? 48 / factor : 0
    self.taps = taps
    // Four windows are evaluated at once, and at least the last of them ends in a new sample.
    reach = taps + 3
    var (whole, nearby) = ([[Double]](), [[Double]]())
    for phase in 0..<phases {
      // The newest sample belongs to the last tap.
      let filter = (0..<taps).map { tap in
        let index = Double((taps - 1 - tap) * factor + phase + 1)
        let angle = (index - 24) * .pi / Double(factor)
        return sin(angle) / angle * (1 - cos(2 * .pi * index / 48)) / 2
      }
      let found = Approximation(of: filter, position: Double(phase + 1) / Double(factor))
      whole.append(filter)
      nearby.append(found.nearby)
      norm = max(norm, Float(filter.reduce(0) { $0 + abs($1) }))
      lineError = max(lineError, Float(found.lineError))
      approximationError = max(approximationError, Float(found.error))
      endError = max(endError, Float(found.endError))
      let outer = taps / 2 - Int(VECTORS_ROUGH_PAIRS)
      let outerTaps = filter.prefix(outer) + filter.suffix(outer)
      // The last term allows for rounding.
      let outerNorm = Float(outerTaps.reduce(0) { $0 + abs($1) } + 1e-5)
      if phase == phases / 2 {
        outerNormOfMiddle = outerNorm
      } else {
        outerNormAround = max(outerNormAround, outerNorm)
      }
    }
    // The mirror image of an approximation is equally good.
    if let first = nearby.first { nearby[phases - 1] = first.reversed() }
    if phases % 2 == 1 {
      let middle = nearby[phases / 2]
      nearby[phases / 2] = zip(middle, middle.reversed()).map { ($0 + $1) / 2 }
    }
    filters = SampleBuffer(pairsOf: whole)
    approximations = SampleBuffer(pairsOf: nearby)
    roundedFilters = .allocate(capacity: max(1, 3 * filters.frameCount))
    vectors_round_weights(roundedFilters, filters.base, filters.frameCount)
  }

  deinit {
    roundedFilters.deallocate()
  }

  /// An approximation of a filter whose position is at the fraction `position` between two samples.
  private struct Approximation {
    /// The coefficients of the four samples in the middle.
    var nearby: [Double]
    /// The error factors, as in `InterpolationFilters`.
    var (lineError, error, endError) = (0.0, 0.0, 0.0)

    init(of filter: [Double], position: Double) {
      let line = [0, 1 - position, position, 0]
      nearby = line
      let first = filter.count / 2 - 2
      var (sum, sumOfSums) = (0.0, 0.0)
      for (tap, coefficient) in filter.enumerated() {
        sum += coefficient - (line.indices.contains(tap - first) ? line[tap - first] : 0)
        guard tap < filter.count - 1 else { break }
        sumOfSums += sum
        guard tap < filter.count - 2 else { continue }
        lineError += abs(sumOfSums)
        if tap == first || tap == first + 1 {
          nearby[tap - first] += sumOfSums
          nearby[tap - first + 1] -= 2 * sumOfSums
          nearby[tap - first + 2] += sumOfSums
        } else {
          error += abs(sumOfSums)
        }
      }
      // A first difference is at most twice the magnitude. The last term allows for rounding.
      endError = abs(sum) + 2 * abs(sumOfSums) + 1e-5
    }
  }

  /// Returns the higher of `known` and the interpolated values between the samples of `count`
  /// frames of `buffer`, which begin `reach` frames after the frame `first`. No magnitude of all
  /// these frames is above `bounds`. `repetitions` contains blocks that were interpolated before:
  /// no value in them is above `known`.
  @_noLocks
  mutating func peaks(
    of buffer: borrowing SampleBuffer, from first: Int, count: Int, known: SIMD4<Float>,
    bounds: SIMD4<Float>, _ lanes: PeakLanes, _ repetitions: inout RepeatedBlocks
  ) -> SIMD4<Float> {
    guard taps > 0 else { return known }
    let stride = buffer.channelCount
    let samples = UnsafePointer(buffer.base + first &* stride)
    let sampleCount = (reach &+ count) &* stride
    if repetitions.isRepeating && repetitions.contains(samples, sampleCount) { return known }
    let mayBeRough =
      stride <= VECTORS_MAXIMUM_ROUGH_STRIDE && PeakLanes.highest(bounds) < .infinity
    var smooth: PeakSearch?
    if !mayBeRough || assumedRoughBlocks == 0 {
      let bends = lanes.folded(
        buffer.secondDifferencesOfFour(from: first, frames: reach &+ count))
      // The threshold that one of the two nearest samples must exceed before a position is
      // evaluated.
      let minimumSamples = known - bends * lineError - bounds * endError
      guard PeakLanes.isAny(PeakLanes.over(minimumSamples, bounds)) else { return known }
      // Below three quarters of the peak, few positions of noise would be skipped.
      if mayBeRough && PeakLanes.isAny(PeakLanes.over(minimumSamples, bounds * 0.75)) {
        assumedRoughBlocks = 8
      } else {
        smooth = PeakSearch(
          weights: filters.base, nearby: approximations.base, pairs: taps / 2,
          minimum_samples: minimumSamples,
          minimum_nearby: known - bends * approximationError - bounds * endError)
      }
    }
    if repetitions.contains(samples, sampleCount) { return known }
    repetitions.add(samples, sampleCount)
    let windows = samples + (reach &- taps &+ 1) &* stride
    if var smooth {
      return lanes.folded(vectors_search_peaks(&smooth, known, windows, stride, count &* stride))
    }
    assumedRoughBlocks &-= 1
    var rough = RoughPeakSearch(
      weights: filters.base, rounded_weights: roundedFilters, pairs: taps / 2,
      outer_norm_of_middle: outerNormOfMiddle, outer_norm_around: outerNormAround)
    return lanes.folded(
      vectors_search_rough_peaks(&rough, known, bounds, windows, stride, count &* stride))
  }
}

extension SampleBuffer {
  /// The number of samples for the coefficients of a pair of taps.
  fileprivate static var pairSamples: Int { @_noLocks get { 24 } }

  /// Creates the coefficients of none, one or three filters in the layout of
  /// `InterpolationFilters`.
  fileprivate init(pairsOf filters: [[Double]]) {
    self.init(frameCount: (filters.first?.count ?? 0) / 2, channelCount: Self.pairSamples)
    guard let first = filters.first, let last = filters.last else { return }
    for tap in 0..<frameCount {
      let around = filters.count > 1 ? (first[tap], last[tap]) : (0, 0)
      let parts = [
        filters[filters.count / 2][tap], (around.0 + around.1) / 2, (around.0 - around.1) / 2,
      ]
      for (part, coefficient) in parts.enumerated() {
        for lane in 0..<8 { self[Self.pairSamples * tap + 8 * part + lane] = Float(coefficient) }
      }
    }
  }
}

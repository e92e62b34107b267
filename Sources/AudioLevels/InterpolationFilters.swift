// Audio thread.

import AudioBasics
import CVectors
import Glibc

/// The filters of the positions between two samples, and how high can be what they interpolate.
///
/// It is at most the highest magnitude of the samples times the filter's L1 norm. And it is not far
/// from the straight line between the two, which is no higher than the nearer: with r the filter
/// less that line, and R the sums of the sums of r, summation by parts gives sum(r x) = sum(R x''),
/// x'' being the second difference, and small terms at the end. Where the two x'' in the middle are
/// known, too, little remains.
///
/// Of sound that bends much, such as white noise, that is more than what the taps far from the
/// middle can add: at most their L1 norm times the highest magnitude.
///
/// The filter of a position is the mirror image of that of the position as far from the other
/// sample. So two samples as far from the middle are added once, for what their filters have in
/// common, and subtracted once, for what not: the higher of both outputs is the sum of the two
/// parts' magnitudes.
struct InterpolationFilters: ~Copyable {
  /// Frames before the first one of a block that are looked at again.
  let reach: Int
  /// The largest L1 norm of the filters, and of a sample as it is.
  private(set) var norm: Float = 1

  /// Samples that each position is made of.
  private let taps: Int
  /// The filters, and their approximations by the four samples in the middle: for each two taps as
  /// far from the middle, the outermost first, the coefficients of the position in the middle, then
  /// half the sum and half the difference of those of the positions around it, which may be zero,
  /// each eight times.
  private let filters: SampleBuffer
  private let approximations: SampleBuffer
  /// What the highest second difference is multiplied by to give the error of the line, and of an
  /// approximation; and what the highest magnitude adds to both.
  private var lineError: Float = 0
  private var approximationError: Float = 0
  private var endError: Float = 0
  /// Pairs of taps in the middle, which may stand for all; and what the highest magnitude is
  /// multiplied by to give what the others add.
  private static var middlePairs: Int {
    @_noLocks get { 3 }
  }
  private var middleError: Float = 0

  /// Filters for `sampleRate`.
  init(sampleRate: Int) {
    let factor = sampleRate < 96_000 ? 4 : sampleRate < 192_000 ? 2 : 1
    let phases = factor - 1
    let taps = phases > 0 ? 48 / factor : 0
    self.taps = taps
    // Four samples are looked at at once, the last one of them at least a new one.
    reach = taps + 3
    var (whole, nearby) = ([[Double]](), [[Double]]())
    for phase in 0..<phases {
      // The newest sample has the last tap.
      let filter = (0..<taps).map { tap in
        let index = Double((taps - 1 - tap) * factor + phase + 1)
        let angle = (index - 24) * .pi / Double(factor)
        return sin(angle) / angle * (1 - cos(2 * .pi * index / 48)) / 2
      }
      let found = Approximation(of: filter, place: Double(phase + 1) / Double(factor))
      whole.append(filter)
      nearby.append(found.nearby)
      norm = max(norm, Float(filter.reduce(0) { $0 + abs($1) }))
      lineError = max(lineError, Float(found.lineError))
      approximationError = max(approximationError, Float(found.error))
      endError = max(endError, Float(found.endError))
      let outer = taps / 2 - Self.middlePairs
      let rest = filter.prefix(outer) + filter.suffix(outer)
      // The last part is for rounding.
      middleError = max(middleError, Float(rest.reduce(0) { $0 + abs($1) } + 1e-5))
    }
    // An approximation's mirror image is as good.
    if let first = nearby.first { nearby[phases - 1] = first.reversed() }
    if phases % 2 == 1 {
      let middle = nearby[phases / 2]
      nearby[phases / 2] = zip(middle, middle.reversed()).map { ($0 + $1) / 2 }
    }
    filters = SampleBuffer(pairsOf: whole)
    approximations = SampleBuffer(pairsOf: nearby)
  }

  /// A filter, whose position lies `place` of the way from one sample to the next, approximated.
  private struct Approximation {
    /// The coefficients of the four samples in the middle.
    var nearby: [Double]
    /// As those of `InterpolationFilters`.
    var (lineError, error, endError) = (0.0, 0.0, 0.0)

    init(of filter: [Double], place: Double) {
      let line = [0, 1 - place, place, 0]
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
      // A first difference is at most twice the magnitude; the last part is for rounding.
      endError = abs(sum) + 2 * abs(sumOfSums) + 1e-5
    }
  }

  /// The higher of `known` and what lies between the samples of `count` frames of `buffer`, which
  /// begin `reach` frames behind the frame `first`. No magnitude of all these frames is above
  /// `bounds`. `repetitions` holds blocks that were interpolated before: nothing in them is above
  /// `known`.
  @_noLocks
  func peaks(
    of buffer: borrowing SampleBuffer, from first: Int, count: Int, known: SIMD4<Float>,
    bounds: SIMD4<Float>, _ lanes: PeakLanes, _ repetitions: inout RepeatedBlocks
  ) -> SIMD4<Float> {
    guard taps > 0 else { return known }
    let stride = buffer.channelCount
    let samples = UnsafePointer(buffer.base + first &* stride)
    let sampleCount = (reach &+ count) &* stride
    if repetitions.isRepeating && repetitions.contains(samples, sampleCount) { return known }
    let bends = lanes.folded(
      buffer.secondDifferencesOfFour(from: first, frames: reach &+ count))
    // What the nearer of two samples must be at least, and the approximation.
    let leastSamples = known - bends * lineError - bounds * endError
    guard PeakLanes.isAny(PeakLanes.over(leastSamples, bounds)) else { return known }
    if repetitions.contains(samples, sampleCount) { return known }
    repetitions.add(samples, sampleCount)
    // The approximations or the taps in the middle, whichever is nearer to the filters.
    let (bent, outer) = (bends * approximationError + bounds * endError, bounds * middleError)
    let isBentMore = PeakLanes.highest(bent) > PeakLanes.highest(outer)
    let middle = SampleBuffer.pairSamples &* (taps / 2 &- Self.middlePairs)
    var search = PeakSearch(
      weights: filters.base, nearby: isBentMore ? filters.base + middle : approximations.base,
      pairs: taps / 2, nearby_pairs: isBentMore ? Self.middlePairs : 2,
      least_samples: leastSamples, least_nearby: known - (isBentMore ? outer : bent))
    let windows = samples + (reach &- taps &+ 1) &* stride
    return lanes.folded(
      vectors_search_peaks(&search, known, windows, stride, count &* stride))
  }
}

extension SampleBuffer {
  /// The samples that hold what belongs to a pair of taps.
  fileprivate static var pairSamples: Int { @_noLocks get { 24 } }

  /// The coefficients of none, one or three filters, as `InterpolationFilters` has them.
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

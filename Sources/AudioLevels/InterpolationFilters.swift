// Audio thread.

import AudioBasics
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
  /// each four times.
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
    let end = count &* stride
    // The first sample that is filtered for the four positions before the first.
    let windows = samples + ((reach &- taps &+ 1) &* stride &- 4)
    // A loop of its own for each: where vectors of two branches join, they are taken apart and put
    // together again.
    let highest =
      PeakLanes.highest(bent) > PeakLanes.highest(outer)
      ? search(
        windows, end, stride, known, leastSamples, leastNearby: known - outer,
        filters.base + 12 &* (taps / 2 &- Self.middlePairs), pairs: Self.middlePairs)
      : search(
        windows, end, stride, known, leastSamples, leastNearby: known - bent, approximations.base,
        pairs: 2)
    return lanes.folded(highest)
  }

  /// The higher of `known` and what the filters make of the samples from `windows` on: where the
  /// nearer of two samples is above `leastSamples`, and what the `pairs` of taps in the middle make
  /// of `nearby` is above `leastNearby`.
  @_noLocks @inline(__always)
  private func search(
    _ windows: UnsafePointer<Float>, _ end: Int, _ stride: Int, _ known: SIMD4<Float>,
    _ leastSamples: SIMD4<Float>, leastNearby: SIMD4<Float>,
    _ nearby: UnsafeMutablePointer<Float>, pairs: Int
  ) -> SIMD4<Float> {
    // The two samples in the middle.
    let earlier = windows + (taps / 2 &- 1) &* stride
    let later = earlier + stride
    let middle = earlier - (pairs &- 1) &* stride
    var highest = known
    var next = 0
    while next < end {
      // Some of the last four may be looked at again; those of a channel stay in lanes of the same
      // peak.
      next = min(next &+ 4, end)
      let overSamples =
        PeakLanes.over(leastSamples, Self.four(earlier + next))
        | PeakLanes.over(leastSamples, Self.four(later + next))
      guard PeakLanes.isAny(overSamples) else { continue }
      let found = Self.filtered(middle + next, stride, nearby, pairs: pairs)
      let overNearby =
        PeakLanes.over(leastNearby, found.middle) | PeakLanes.over(leastNearby, found.around)
      guard PeakLanes.isAny(overNearby) else { continue }
      let whole = filtered(windows + next, stride)
      highest = PeakLanes.higher(highest, whole.middle)
      highest = PeakLanes.higher(highest, whole.around)
    }
    return highest
  }

  /// All taps. Not inlined: where it is, the compiler takes its vectors apart.
  @_noLocks @inline(never)
  private func filtered(_ window: UnsafePointer<Float>, _ stride: Int) -> FilteredMagnitudes {
    Self.filtered(window, stride, filters.base, pairs: taps / 2)
  }

  /// What the filters of twice `pairs` taps make of the samples from `window` on, `stride` apart.
  /// There is at least one pair.
  @_noLocks @inline(__always)
  private static func filtered(
    _ window: UnsafePointer<Float>, _ stride: Int, _ coefficients: UnsafeMutablePointer<Float>,
    pairs: Int
  ) -> FilteredMagnitudes {
    var (middle, common, different) = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
    var (first, last) = (window, window + (2 &* pairs &- 1) &* stride)
    var pair = UnsafeRawPointer(coefficients)
    var rest = pairs
    repeat {
      let (earlier, later) = (four(first), four(last))
      let sum = earlier + later
      middle += sum * pair.load(as: SIMD4<Float>.self)
      common += sum * pair.load(fromByteOffset: 16, as: SIMD4<Float>.self)
      different += (earlier - later) * pair.load(fromByteOffset: 32, as: SIMD4<Float>.self)
      first += stride
      last += 0 &- stride
      pair += 48
      rest &-= 1
    } while rest > 0
    return FilteredMagnitudes(
      middle: PeakLanes.magnitudes(middle),
      around: PeakLanes.magnitudes(common) + PeakLanes.magnitudes(different))
  }

  @_noLocks @inline(__always)
  private static func four(_ samples: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD4<Float>.self)
  }
}

/// Magnitudes of what is interpolated, for each of four positions: in the middle of two samples,
/// and the higher of those around it.
private struct FilteredMagnitudes: BitwiseCopyable {
  let middle: SIMD4<Float>
  let around: SIMD4<Float>
}

extension SampleBuffer {
  /// The coefficients of none, one or three filters, as `InterpolationFilters` has them.
  fileprivate init(pairsOf filters: [[Double]]) {
    self.init(frameCount: (filters.first?.count ?? 0) / 2, channelCount: 12)
    guard let first = filters.first, let last = filters.last else { return }
    for tap in 0..<frameCount {
      let around = filters.count > 1 ? (first[tap], last[tap]) : (0, 0)
      let parts = [
        filters[filters.count / 2][tap], (around.0 + around.1) / 2, (around.0 - around.1) / 2,
      ]
      for (part, coefficient) in parts.enumerated() {
        for lane in 0..<4 { self[12 * tap + 4 * part + lane] = Float(coefficient) }
      }
    }
  }
}

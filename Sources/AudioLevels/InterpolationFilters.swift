// Audio thread.

import AudioBasics
import Glibc

/// The filters of the positions between two samples, and how high can be what they interpolate.
///
/// It is at most the highest magnitude of the samples times the filter's L1 norm. And it is not far from the
/// straight line between the two, which is no higher than the nearer: with r the filter less that line, and R
/// the sums of the sums of r, summation by parts gives sum(r x) = sum(R x''), x'' being the second difference,
/// and small terms at the end. Where the two x'' in the middle are known, too, little remains.
struct InterpolationFilters: ~Copyable {
  /// Frames before the first one of a block that are looked at again.
  let reach: Int
  /// The largest L1 norm of the filters, and of a sample as it is.
  private(set) var norm: Float = 1

  /// Samples that each position is made of.
  private let taps: Int
  /// The filters, and their approximations by the four samples in the middle: for each tap the coefficients of
  /// three filters, of which two may be zero, each four times.
  private var filters: SampleBuffer
  private var approximations: SampleBuffer
  /// What the highest second difference is multiplied by to give the error of the line, and of an approximation;
  /// and what the highest magnitude adds to both.
  private var lineError: Float = 0
  private var approximationError: Float = 0
  private var endError: Float = 0

  /// Filters for `sampleRate`.
  init(sampleRate: Int) {
    let factor = sampleRate < 96_000 ? 4 : sampleRate < 192_000 ? 2 : 1
    let phases = factor - 1
    let taps = phases > 0 ? 48 / factor : 0
    self.taps = taps
    // Four samples are looked at at once, the last one of them at least a new one.
    reach = taps + 3
    filters = SampleBuffer(frameCount: taps, channelCount: 12)
    approximations = SampleBuffer(frameCount: 4, channelCount: 12)
    func set(_ filter: [Double], of phase: Int, in filters: inout SampleBuffer) {
      for (tap, coefficient) in filter.enumerated() {
        for lane in 0..<4 { filters[12 * tap + 4 * phase + lane] = Float(coefficient) }
      }
    }
    for phase in 0..<phases {
      // The newest sample has the last tap.
      let filter = (0..<taps).map { tap in
        let index = Double((taps - 1 - tap) * factor + phase + 1)
        let angle = (index - 24) * .pi / Double(factor)
        return sin(angle) / angle * (1 - cos(2 * .pi * index / 48)) / 2
      }
      let found = Approximation(of: filter, place: Double(phase + 1) / Double(factor))
      set(filter, of: phase, in: &filters)
      set(found.nearby, of: phase, in: &approximations)
      norm = max(norm, Float(filter.reduce(0) { $0 + abs($1) }))
      lineError = max(lineError, Float(found.lineError))
      approximationError = max(approximationError, Float(found.error))
      endError = max(endError, Float(found.endError))
    }
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

  /// The higher of `known` and what lies between the samples of `count` frames of `buffer`, which begin `reach`
  /// frames behind the frame `first`. No magnitude of all these frames is above `bounds`. `repetitions` holds blocks
  /// that were interpolated before: nothing in them is above `known`.
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
    let leastNearby = known - bends * approximationError - bounds * endError
    // The first sample that is filtered for the four positions before `next`, and the two in the middle.
    let windows = samples + ((reach &- taps &+ 1) &* stride &- 4)
    let earlier = windows + (taps / 2 &- 1) &* stride
    let later = earlier + stride
    let end = count &* stride
    var highest = known
    var next = 0
    while next < end {
      // Some of the last four may be looked at again; those of a channel stay in lanes of the same peak.
      next = min(next &+ 4, end)
      let overSamples =
        PeakLanes.over(leastSamples, Self.four(earlier + next))
        | PeakLanes.over(leastSamples, Self.four(later + next))
      guard PeakLanes.isAny(overSamples) else { continue }
      let nearby = Self.filtered(earlier + (next &- stride), stride, approximations)
      let overNearby =
        PeakLanes.over(leastNearby, nearby.0) | PeakLanes.over(leastNearby, nearby.1)
        | PeakLanes.over(leastNearby, nearby.2)
      guard PeakLanes.isAny(overNearby) else { continue }
      let sums = Self.filtered(windows + next, stride, filters)
      highest = PeakLanes.higher(highest, PeakLanes.magnitudes(sums.0))
      highest = PeakLanes.higher(highest, PeakLanes.magnitudes(sums.1))
      highest = PeakLanes.higher(highest, PeakLanes.magnitudes(sums.2))
    }
    return lanes.folded(highest)
  }

  /// The outputs of three filters for each of four positions, of samples from `window` on, `stride` apart.
  @_noLocks @inline(__always)
  private static func filtered(
    _ window: UnsafePointer<Float>, _ stride: Int, _ filters: borrowing SampleBuffer
  ) -> (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>) {
    var sums = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
    for tap in 0..<filters.frameCount {
      let samples = four(window + tap &* stride)
      let coefficients = UnsafeRawPointer(filters.base + 12 &* tap)
      sums.0 += samples * coefficients.load(as: SIMD4<Float>.self)
      sums.1 += samples * coefficients.load(fromByteOffset: 16, as: SIMD4<Float>.self)
      sums.2 += samples * coefficients.load(fromByteOffset: 32, as: SIMD4<Float>.self)
    }
    return sums
  }

  @_noLocks @inline(__always)
  private static func four(_ samples: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD4<Float>.self)
  }
}

// Audio thread.

import AudioBasics
import Glibc

/// The true peaks of a sound: of each channel, or of all together.
///
/// ```swift
/// var buffer = SampleBuffer(frameCount: 480, channelCount: 1)
/// for frame in 0..<480 { buffer[frame] = frame % 4 < 2 ? 0.5 : -0.5 }
/// var peaks = TruePeaks(sampleRate: 48000, channelCount: 1)
/// precondition(peaks.add(buffer, frames: 480) == 0.5 && peaks.highest > 0.69)
/// ```
public struct TruePeaks: ~Copyable, @unchecked Sendable {
  // @unchecked because the memory has one owner, which moves with the value.
  private let peaks: UnsafeMutablePointer<TruePeak>
  private let count: Int
  private let channelCount: Int
  /// The highest magnitude of what the filters reach back to.
  private var keptPeak: Float = 0

  /// Channels of `sampleRate` that were silent up to now, each with a peak of its own unless `isShared`.
  public init(sampleRate: Int, channelCount: Int, isShared: Bool = false) {
    self.channelCount = max(0, channelCount)
    count = isShared ? min(1, self.channelCount) : self.channelCount
    peaks = .allocate(capacity: count)
    for index in 0..<count {
      (peaks + index).initialize(
        to: TruePeak(
          sampleRate: sampleRate, width: isShared ? channelCount : 1,
          remembersBlocks: isShared && channelCount <= 8))
    }
  }

  deinit {
    peaks.deinitialize(count: count)
    peaks.deallocate()
  }

  /// Frames by which a peak between samples is found later than it is, at most.
  package var delayFrames: Int {
    @_noLocks get { count > 0 ? peaks.pointee.reach / 2 : 0 }
  }

  /// The highest magnitudes so far are `level` from now on, full scale being 1; what the filters reach back to is kept.
  /// For channels with a peak of their own.
  @_noLocks
  package mutating func restart(at level: Float) {
    for index in 0..<count { (peaks + index).pointee.restart(at: level) }
  }

  /// Looks at `frames` frames of `buffer` from `first` on. Returns the highest magnitude of the samples.
  @_noLocks @discardableResult
  public mutating func add(
    _ buffer: borrowing SampleBuffer, from first: Int = 0, frames: Int
  ) -> Float {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the meter must have the same number of channels.")
    buffer.requireFrames(from: first, frames)
    guard frames > 0 else { return 0 }
    var highestSample: Float = 0
    var before = keptPeak
    var frame = 0
    var length = 0
    while frame < frames {
      length = min(TruePeak.blockFrames, frames &- frame)
      let peak = buffer.peak(from: first &+ frame, frames: length)
      for index in 0..<count {
        (peaks + index).pointee.look(
          buffer, channel: index, at: first &+ frame, count: length, known: frame, blockPeak: peak,
          before: before)
      }
      before = peak
      highestSample = max(highestSample, peak)
      frame &+= length
    }
    keptPeak = before
    for index in 0..<count {
      (peaks + index).pointee.keepLast(buffer, channel: index, from: first, count: frames)
      // Behind a short block, others are kept as well.
      if length < peaks.pointee.reach {
        keptPeak = max(keptPeak, (peaks + index).pointee.keptPeak)
      }
    }
    return highestSample
  }

  /// A channel's highest magnitude so far, full scale being 1. Channels together are one.
  public subscript(channel: Int) -> Float {
    @_noLocks get {
      requirement(
        channel >= 0 && channel < count,
        "The channel does not exist.")
      return (peaks + channel).pointee.peak
    }
  }

  /// The highest of all channels.
  public var highest: Float {
    @_noLocks get {
      var highest: Float = 0
      for index in 0..<count { highest = max(highest, (peaks + index).pointee.peak) }
      return highest
    }
  }
}

/// The highest magnitude of one channel, or of all together, between the samples too: the true peak of ITU-R
/// BS.1770-5, Annex 2.
///
/// Samples are interpolated to four times rates below 96 kHz and twice those below 192 kHz, by a sinc
/// of 49 taps in a Hann window, as libebur128 does; above, the samples are the peak. Where
/// `InterpolationFilters` tell that nothing can be higher than the highest peak so far, nothing is
/// interpolated. The result is the same, and of most music little remains to be looked at.
///
/// All memory is allocated by the initialiser.
struct TruePeak: ~Copyable {
  /// The highest magnitude so far, full scale being 1; at least that of the samples. What is no number
  /// does not count.
  private(set) var peak: Float = 0

  /// Frames for which it is decided together whether they are interpolated; no fewer than are kept.
  static var blockFrames: Int {
    @_noLocks get { 64 }
  }

  private let filters: InterpolationFilters
  private var repetitions: RepeatedBlocks
  /// The channels it looks at, side by side.
  private let width: Int
  /// The last frames that were looked at, which the filters reach back to; and room for a block behind them.
  private var line: SampleBuffer

  /// `width` channels of `sampleRate` that were silent up to now.
  init(sampleRate: Int, width: Int, remembersBlocks: Bool = false) {
    filters = InterpolationFilters(sampleRate: sampleRate)
    self.width = width
    line = SampleBuffer(frameCount: filters.reach + Self.blockFrames, channelCount: width)
    // An output may play a loop for hours; its memory is in proportion to the channels.
    repetitions = RepeatedBlocks(
      blockCount: remembersBlocks ? 64 : 0, sampleCount: line.frameCount * width)
  }

  /// Frames that the filters reach back to.
  var reach: Int {
    @_noLocks get { filters.reach }
  }

  /// Looks at a block of at most `blockFrames` frames of `buffer`, in the channels from `channel` on, which begins
  /// at the frame `place`; `known` frames of the same sound are there before it, the others were kept. No
  /// magnitude of the block is above `blockPeak`, and none of the block before above `before`.
  @_noLocks
  mutating func look(
    _ buffer: borrowing SampleBuffer, channel: Int, at place: Int, count: Int, known: Int,
    blockPeak: Float, before: Float
  ) {
    let bound = max(blockPeak, before)
    guard blockPeak > peak || bound * filters.norm > peak else { return }
    let isWhole = width == buffer.channelCount
    if isWhole && known >= reach {
      peak = filters.peak(
        of: buffer, from: place &- reach, count: count, known: max(peak, blockPeak), bound: bound,
        &repetitions)
      return
    }
    let kept = max(0, reach &- known)
    copy(buffer, channel, from: place &+ kept &- reach, to: kept, frames: reach &+ count &- kept)
    let sample = isWhole ? blockPeak : line.peak(from: reach, frames: count)
    peak = filters.peak(
      of: line, from: 0, count: count, known: max(peak, sample),
      bound: isWhole ? bound : max(sample, line.peak(from: 0, frames: reach)), &repetitions)
  }

  /// The highest magnitude so far is `level` from now on.
  @_noLocks
  mutating func restart(at level: Float) { peak = level }

  /// Keeps what the filters will reach back to: the last of `count` frames of `buffer` from `first` on.
  @_noLocks
  mutating func keepLast(
    _ buffer: borrowing SampleBuffer, channel: Int, from first: Int, count: Int
  ) {
    let reach = filters.reach
    let kept = max(0, reach &- count)
    for sample in 0..<kept &* width { line[sample] = line[sample &+ count &* width] }
    copy(
      buffer, channel, from: first &+ count &+ kept &- reach, to: kept, frames: reach &- kept)
  }

  /// The highest magnitude of what is kept.
  var keptPeak: Float {
    @_noLocks get { line.peak(frames: filters.reach) }
  }

  /// Copies `frames` frames of `buffer`, from `first` on, to the line from the frame `target` on.
  @_noLocks
  private mutating func copy(
    _ buffer: borrowing SampleBuffer, _ channel: Int, from first: Int, to target: Int, frames: Int
  ) {
    if width == buffer.channelCount {
      return line.replace(at: target, with: buffer, from: first, frames: frames)
    }
    let step = buffer.channelCount
    let samples = UnsafePointer(buffer.base + (first &* step &+ channel))
    let copied = line.base + target
    for frame in 0..<frames { copied[frame] = samples[frame &* step] }
  }
}

/// The filters of the positions between two samples, and how high can be what they interpolate.
///
/// It is at most the highest magnitude of the samples times the filter's L1 norm. And it is not far from the
/// straight line between the two, which is no higher than the nearer: with r the filter less that line, and R
/// the sums of the sums of r, summation by parts gives sum(r x) = sum(R x''), x'' being the second difference,
/// and small terms at the end. Where the two x'' in the middle are known, too, little remains.
struct InterpolationFilters: ~Copyable {
  /// Frames before the first one of a block that are looked at again.
  let reach: Int
  /// The largest L1 norm of the filters.
  private(set) var norm: Float = 0

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
  /// frames behind the frame `first`. No magnitude of all these frames is above `bound`. `repetitions` holds
  /// blocks that were interpolated before: nothing in them is above `known`.
  @_noLocks
  func peak(
    of buffer: borrowing SampleBuffer, from first: Int, count: Int, known: Float, bound: Float,
    _ repetitions: inout RepeatedBlocks
  ) -> Float {
    guard bound * norm > known else { return known }
    let stride = buffer.channelCount
    let samples = UnsafePointer(buffer.base + first &* stride)
    let sampleCount = (reach &+ count) &* stride
    if repetitions.isRepeating && repetitions.contains(samples, sampleCount) { return known }
    let bend = buffer.secondDifference(from: first, frames: reach &+ count)
    // What the nearer of two samples must be at least, and the approximation.
    let leastSample = known - bend * lineError - bound * endError
    guard bound > leastSample else { return known }
    if repetitions.contains(samples, sampleCount) { return known }
    repetitions.add(samples, sampleCount)
    let leastNearby = known - bend * approximationError - bound * endError
    let start = buffer.base + (first &+ reach &- taps &+ 1) &* stride
    let end = count &* stride
    var highest = SIMD4<Float>(repeating: known)
    var next = 0
    while next < end {
      // Some of the last four may be looked at again.
      next = min(next &+ 4, end)
      let window = start + (next &- 4)
      let middle = window + (taps / 2 &- 1) &* stride
      let left = Self.over(leastSample, Self.four(middle))
      guard Self.isAny(left | Self.over(leastSample, Self.four(middle + stride))) else { continue }
      let nearby = Self.filtered(middle - stride, stride, approximations)
      let overNearby =
        Self.over(leastNearby, nearby.0) | Self.over(leastNearby, nearby.1)
        | Self.over(leastNearby, nearby.2)
      guard Self.isAny(overNearby) else { continue }
      let sums = Self.filtered(window, stride, filters)
      highest = Self.higher(highest, sums.0)
      highest = Self.higher(highest, sums.1)
      highest = Self.higher(highest, sums.2)
    }
    return max(max(highest[0], highest[1]), max(highest[2], highest[3]))
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

  /// The higher magnitude of each two; of what is no number the other.
  @_noLocks @inline(__always)
  private static func higher(_ highest: SIMD4<Float>, _ samples: SIMD4<Float>) -> SIMD4<Float> {
    let magnitudes = magnitudes(samples)
    return highest.replacing(with: magnitudes, where: magnitudes .> highest)
  }

  /// Samples without their signs.
  @_noLocks @inline(__always)
  private static func magnitudes(_ samples: SIMD4<Float>) -> SIMD4<Float> {
    unsafeBitCast(
      unsafeBitCast(samples, to: SIMD4<UInt32>.self) & SIMD4(repeating: 0x7FFF_FFFF),
      to: SIMD4<Float>.self)
  }

  /// All bits of those four whose magnitude is above `least`.
  @_noLocks @inline(__always)
  private static func over(_ least: Float, _ samples: SIMD4<Float>) -> SIMD4<UInt32> {
    unsafeBitCast(magnitudes(samples) .> SIMD4(repeating: least), to: SIMD4<UInt32>.self)
  }

  /// Whether one of four is not zero.
  @_noLocks @inline(__always)
  private static func isAny(_ masks: SIMD4<UInt32>) -> Bool {
    let halves = unsafeBitCast(masks, to: SIMD2<UInt64>.self)
    return halves[0] | halves[1] != 0
  }

  @_noLocks @inline(__always)
  private static func four(_ samples: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD4<Float>.self)
  }
}

// Audio thread.

import AudioBasics

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
  private let meters: UnsafeMutablePointer<TruePeak>
  private let meterCount: Int
  private let channelCount: Int
  private let isShared: Bool
  /// Frames for which it is decided together whether they are interpolated. Longer blocks cost less
  /// where little is; shorter ones are more often the same again, which only one meter looks for.
  private let blockFrames: Int
  /// The highest magnitudes of what the filters reach back to.
  private var keptPeaks = SIMD4<Float>()

  /// Channels of `sampleRate` that were silent up to now, each with a peak of its own unless
  /// `isShared`.
  public init(sampleRate: Int, channelCount: Int, isShared: Bool = false) {
    self.channelCount = max(0, channelCount)
    self.isShared = isShared
    blockFrames = isShared ? 64 : 96
    // A vector of four holds one channel, or two or four side by side.
    let isWhole = isShared || channelCount == 2 || channelCount == 4
    meterCount = isWhole ? min(1, self.channelCount) : self.channelCount
    meters = .allocate(capacity: meterCount)
    for index in 0..<meterCount {
      (meters + index).initialize(
        to: TruePeak(
          sampleRate: sampleRate, width: isWhole ? channelCount : 1,
          peakCount: isShared || !isWhole ? 1 : channelCount, blockFrames: blockFrames,
          remembersBlocks: isShared && channelCount <= 8))
    }
  }

  deinit {
    meters.deinitialize(count: meterCount)
    meters.deallocate()
  }

  /// Frames by which a peak between samples is found later than it is, at most.
  package var delayFrames: Int {
    @_noLocks get { meterCount > 0 ? meters.pointee.reach / 2 : 0 }
  }

  /// The highest magnitudes so far are `level` from now on, full scale being 1; what the filters
  /// reach back to is kept. For channels with a peak of their own.
  @_noLocks
  package mutating func restart(at level: Float) {
    for index in 0..<meterCount { (meters + index).pointee.restart(at: level) }
  }

  /// Looks at `frames` frames of `buffer` from `first` on. Returns the highest magnitude of the
  /// samples.
  @_noLocks @discardableResult
  public mutating func add(
    _ buffer: borrowing SampleBuffer, from first: Int = 0, frames: Int
  ) -> Float {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the meter must have the same number of channels.")
    buffer.requireFrames(from: first, frames)
    guard frames > 0 else { return 0 }
    var highest = SIMD4<Float>()
    var before = keptPeaks
    var frame = 0
    var length = 0
    while frame < frames {
      length = min(blockFrames, frames &- frame)
      let peaks = samplePeaks(of: buffer, from: first &+ frame, frames: length)
      for index in 0..<meterCount {
        (meters + index).pointee.look(
          buffer, channel: index, at: first &+ frame, count: length, known: frame,
          blockPeaks: peaks, before: before)
      }
      before = peaks
      highest = PeakLanes.higher(highest, peaks)
      frame &+= length
    }
    keptPeaks = before
    for index in 0..<meterCount {
      (meters + index).pointee.keepLast(buffer, channel: index, from: first, count: frames)
      // Behind a short block, others are kept as well.
      if length < meters.pointee.reach {
        keptPeaks = PeakLanes.higher(keptPeaks, (meters + index).pointee.keptPeaks)
      }
    }
    return PeakLanes.highest(highest)
  }

  /// The highest magnitudes of the samples: those of the channels where each has lanes of its own,
  /// or else of all together, in all four.
  @_noLocks @inline(__always)
  private func samplePeaks(
    of buffer: borrowing SampleBuffer, from first: Int, frames: Int
  ) -> SIMD4<Float> {
    meterCount == 1 && !isShared
      ? meters.pointee.lanes.folded(buffer.peaksOfFour(from: first, frames: frames))
      : SIMD4(repeating: buffer.peak(from: first, frames: frames))
  }

  /// A channel's highest magnitude so far, full scale being 1. Channels together are one.
  public subscript(channel: Int) -> Float {
    @_noLocks get {
      requirement(
        channel >= 0 && channel < (isShared ? meterCount : channelCount),
        "The channel does not exist.")
      return meterCount == 1
        ? meters.pointee.peaks[channel] : (meters + channel).pointee.peaks[0]
    }
  }

  /// The highest of all channels.
  public var highest: Float {
    @_noLocks get {
      var highest: Float = 0
      for index in 0..<meterCount {
        highest = max(highest, PeakLanes.highest((meters + index).pointee.peaks))
      }
      return highest
    }
  }
}

/// The highest magnitudes between the samples too, of one channel, of two or four each for itself,
/// or of any number together: the true peak of ITU-R BS.1770-5, Annex 2.
///
/// Samples are interpolated to four times rates below 96 kHz and twice those below 192 kHz, by a
/// sinc of 49 taps in a Hann window, as libebur128 does; above, the samples are the peak. Where
/// `InterpolationFilters` tell that nothing can be higher than the highest peak so far, nothing is
/// interpolated. The result is the same, and of most music little remains to be looked at.
///
/// All memory is allocated by the initialiser.
struct TruePeak: ~Copyable {
  /// The highest magnitudes so far, full scale being 1, at least those of the samples: one after
  /// the other, again and again. What is no number does not count.
  private(set) var peaks = SIMD4<Float>()

  private let filters: InterpolationFilters
  private var repetitions: RepeatedBlocks
  /// The channels it looks at, side by side.
  private let width: Int
  /// How many peaks they have: one, or each its own.
  let lanes: PeakLanes
  /// The last frames that were looked at, which the filters reach back to; and room for a block
  /// behind them.
  private var line: SampleBuffer

  /// `width` channels of `sampleRate` that were silent up to now, with 1, 2 or 4 peaks, for blocks
  /// of at most `blockFrames` frames; no fewer than are kept.
  init(
    sampleRate: Int, width: Int, peakCount: Int, blockFrames: Int, remembersBlocks: Bool
  ) {
    filters = InterpolationFilters(sampleRate: sampleRate)
    self.width = width
    lanes = PeakLanes(peakCount: peakCount)
    line = SampleBuffer(frameCount: filters.reach + blockFrames, channelCount: width)
    // An output may play a loop for hours; its memory is in proportion to the channels.
    repetitions = RepeatedBlocks(
      blockCount: remembersBlocks ? 64 : 0, sampleCount: line.frameCount * width)
  }

  /// Frames that the filters reach back to.
  var reach: Int {
    @_noLocks get { filters.reach }
  }

  /// Looks at a block of `count` frames of `buffer`, in the channels from `channel` on, from the
  /// frame `place` on; `known` frames of the same sound are there before it, the others were kept.
  /// No magnitude of the block is above `blockPeaks`, and none of the block before above `before`.
  @_noLocks
  mutating func look(
    _ buffer: borrowing SampleBuffer, channel: Int, at place: Int, count: Int, known: Int,
    blockPeaks: SIMD4<Float>, before: SIMD4<Float>
  ) {
    let bounds = PeakLanes.higher(before, blockPeaks)
    let isWhole = width == buffer.channelCount
    if isWhole { peaks = PeakLanes.higher(peaks, blockPeaks) }
    guard PeakLanes.isAny(PeakLanes.over(peaks, bounds * filters.norm)) else { return }
    if isWhole && known >= reach {
      peaks = filters.peaks(
        of: buffer, from: place &- reach, count: count, known: peaks, bounds: bounds, lanes,
        &repetitions)
      return
    }
    let kept = max(0, reach &- known)
    copy(buffer, channel, from: place &+ kept &- reach, to: kept, frames: reach &+ count &- kept)
    let samples = isWhole ? blockPeaks : lanes.folded(line.peaksOfFour(from: reach, frames: count))
    peaks = filters.peaks(
      of: line, from: 0, count: count, known: PeakLanes.higher(peaks, samples),
      bounds: isWhole ? bounds : PeakLanes.higher(samples, keptPeaks), lanes, &repetitions)
  }

  /// The highest magnitudes so far are `level` from now on.
  @_noLocks
  mutating func restart(at level: Float) { peaks = SIMD4(repeating: level) }

  /// Keeps what the filters will reach back to: the last of `count` frames of `buffer` from `first`
  /// on.
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

  /// The highest magnitudes of what is kept.
  var keptPeaks: SIMD4<Float> {
    @_noLocks get { lanes.folded(line.peaksOfFour(from: 0, frames: filters.reach)) }
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

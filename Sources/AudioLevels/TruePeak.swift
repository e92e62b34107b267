// Audio thread.

import AudioBasics

/// The true peaks of audio, for each channel or for all channels together.
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
  /// The number of frames in a block, which is either interpolated as a whole or not at all. Longer
  /// blocks cost less if few of them are interpolated; shorter blocks repeat more often, which is
  /// checked only if `isShared`.
  private let blockFrames: Int
  /// The highest magnitudes of the previous frames that the filters need.
  private var keptPeaks = SIMD4<Float>()

  /// Creates a meter for channels at `sampleRate` that were silent so far. Each channel has its own
  /// peak unless `isShared`. More than 1024 channels are a fatal error with a message.
  public init(sampleRate: Int, channelCount: Int, isShared: Bool = false) {
    requirement(channelCount <= SampleBuffer.maximumChannels, "A meter has at most 1024 channels.")
    self.channelCount = max(0, channelCount)
    self.isShared = isShared
    blockFrames = isShared ? 64 : 480
    // A vector of four holds one channel, or two or four channels side by side.
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

  /// The maximum delay in frames with which a peak between samples is detected.
  package var delayFrames: Int {
    @_noLocks get { meterCount > 0 ? meters.pointee.reach / 2 : 0 }
  }

  /// Sets the highest magnitudes so far to `level`, relative to full scale. The previous frames
  /// that the filters need are kept. For meters with one peak per channel.
  @_noLocks
  package mutating func restart(at level: Float) {
    for index in 0..<meterCount { (meters + index).pointee.restart(at: level) }
  }

  /// Measures `frames` frames of `buffer`, starting at `first`. Returns the highest magnitude of
  /// the samples.
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
        (meters + index).pointee.measure(
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
      // If the last block is shorter than the reach, frames of earlier blocks are needed as well.
      if length < meters.pointee.reach {
        keptPeaks = PeakLanes.higher(keptPeaks, (meters + index).pointee.keptPeaks)
      }
    }
    return PeakLanes.highest(highest)
  }

  /// Returns the highest magnitudes of the samples: those of the channels if each has its own
  /// lanes, or otherwise the highest of all channels in all four lanes.
  @_noLocks @inline(__always)
  private func samplePeaks(
    of buffer: borrowing SampleBuffer, from first: Int, frames: Int
  ) -> SIMD4<Float> {
    meterCount == 1 && !isShared
      ? meters.pointee.lanes.folded(buffer.peaksOfFour(from: first, frames: frames))
      : SIMD4(repeating: buffer.peak(from: first, frames: frames))
  }

  /// The highest magnitude of a channel so far, relative to full scale. If `isShared`, all channels
  /// together are channel 0.
  public subscript(channel: Int) -> Float {
    @_noLocks get {
      requirement(
        channel >= 0 && channel < (isShared ? meterCount : channelCount),
        "The channel does not exist.")
      return meterCount == 1
        ? meters.pointee.peaks[channel] : (meters + channel).pointee.peaks[0]
    }
  }

  /// The highest magnitude of all channels.
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

/// The highest magnitudes, including those between samples, of one channel, of two or four channels
/// separately, or of any number together: the true peak of ITU-R BS.1770-5, Annex 2.
///
/// Samples are interpolated by a factor of four at rates below 96 kHz and of two below 192 kHz,
/// with a sinc of 49 taps and a Hann window, as in libebur128; at higher rates the samples are the
/// peak. Frames are not interpolated if `InterpolationFilters` proves that no value can be above
/// the highest peak so far. The result is the same, and few frames of most music are interpolated.
///
/// The initialiser allocates all memory.
struct TruePeak: ~Copyable {
  /// The highest magnitudes so far, relative to full scale, at least those of the samples. The
  /// peaks are repeated to fill the four lanes. NaN does not count.
  private(set) var peaks = SIMD4<Float>()

  private var filters: InterpolationFilters
  private var repetitions: RepeatedBlocks
  /// The number of channels that are measured, side by side.
  private let width: Int
  /// The number of peaks of these channels: one in total, or one for each.
  let lanes: PeakLanes
  /// The previous frames that the filters need, with memory for a block after them.
  private var line: SampleBuffer

  /// Creates a meter for `width` channels at `sampleRate` that were silent so far, with 1, 2 or 4
  /// peaks, for blocks of at most `blockFrames` frames, not less than the filters' reach.
  init(
    sampleRate: Int, width: Int, peakCount: Int, blockFrames: Int, remembersBlocks: Bool
  ) {
    filters = InterpolationFilters(sampleRate: sampleRate)
    self.width = width
    lanes = PeakLanes(peakCount: peakCount)
    line = SampleBuffer(frameCount: filters.reach + blockFrames, channelCount: width)
    // An output may play a loop for hours. The memory is proportional to the number of channels.
    repetitions = RepeatedBlocks(
      blockCount: remembersBlocks ? 64 : 0, sampleCount: line.frameCount * width)
  }

  /// The number of previous frames that the filters need.
  var reach: Int {
    @_noLocks get { filters.reach }
  }

  /// Measures a block of `count` frames of `buffer` that starts at the frame `offset`, in the
  /// channels from `channel` on. `known` previous frames of the same audio precede it in the
  /// buffer; the others are in the line. No magnitude of the block is above `blockPeaks`, and none
  /// of the previous block is above `before`.
  @_noLocks
  mutating func measure(
    _ buffer: borrowing SampleBuffer, channel: Int, at offset: Int, count: Int, known: Int,
    blockPeaks: SIMD4<Float>, before: SIMD4<Float>
  ) {
    let bounds = PeakLanes.higher(before, blockPeaks)
    let isWhole = width == buffer.channelCount
    if isWhole { peaks = PeakLanes.higher(peaks, blockPeaks) }
    guard PeakLanes.isAny(PeakLanes.over(peaks, bounds * filters.norm)) else { return }
    if isWhole && known >= reach {
      peaks = filters.peaks(
        of: buffer, from: offset &- reach, count: count, known: peaks, bounds: bounds, lanes,
        &repetitions)
      return
    }
    let kept = max(0, reach &- known)
    copy(buffer, channel, from: offset &+ kept &- reach, to: kept, frames: reach &+ count &- kept)
    let samples = isWhole ? blockPeaks : lanes.folded(line.peaksOfFour(from: reach, frames: count))
    peaks = filters.peaks(
      of: line, from: 0, count: count, known: PeakLanes.higher(peaks, samples),
      bounds: isWhole ? bounds : PeakLanes.higher(samples, keptPeaks), lanes, &repetitions)
  }

  /// Sets the highest magnitudes so far to `level`.
  @_noLocks
  mutating func restart(at level: Float) { peaks = SIMD4(repeating: level) }

  /// Keeps the frames that the filters will need: the last of `count` frames of `buffer`, starting
  /// at `first`.
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

  /// The highest magnitudes of the previous frames that are kept.
  var keptPeaks: SIMD4<Float> {
    @_noLocks get { lanes.folded(line.peaksOfFour(from: 0, frames: filters.reach)) }
  }

  /// Copies `frames` frames of `buffer`, starting at `first`, to the line, starting at the frame
  /// `target`.
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

// Audio thread.

import AudioBasics
import CRealtime
import CVectors

/// The memory layout of a device's frames: interleaved or planar, with all of its channels or some
/// of them.
struct DeviceLayout: BitwiseCopyable {
  let format: SampleFormat
  /// The number of channels that are read and written.
  let channelCount: Int
  /// The number of bytes from a frame to the next one of the same channel.
  let frameStride: Int
  /// The number of bytes from a channel to the next one of the same frame.
  let channelStride: Int

  /// Whether frames are contiguous, so that a single loop covers all samples.
  private let isInterleaved: Bool
  /// The offset of each channel in a frame, in bytes; nil if the channels are `channelStride`
  /// apart. The memory belongs to the device, and lives as long as the frames that the device
  /// lends.
  private let offsets: UnsafePointer<Int>?

  @_noLocks
  init(
    format: SampleFormat, channelCount: Int, frameStride: Int, channelStride: Int,
    offsets: UnsafePointer<Int>? = nil
  ) {
    self.format = format
    self.channelCount = channelCount
    self.frameStride = frameStride
    self.channelStride = channelStride
    self.offsets = offsets
    isInterleaved =
      offsets == nil && channelStride == format.byteCount
      && frameStride == format.byteCount * channelCount
  }

  /// Creates a layout of the same memory, of which only the channels of `places` are read and
  /// written.
  init(_ whole: DeviceLayout, only places: borrowing ChannelOffsets) {
    self.init(
      format: whole.format, channelCount: places.count ?? whole.channelCount,
      frameStride: whole.frameStride, channelStride: whole.channelStride, offsets: places.offsets)
  }

  @_noLocks
  init(interleaved format: SampleFormat, channelCount: Int) {
    self.init(
      format: format, channelCount: channelCount, frameStride: format.byteCount * channelCount,
      channelStride: format.byteCount)
  }

  /// Converts `frames` frames of the device's format. If `measures` is true and the samples are
  /// interleaved and have 16 bits, returns their highest magnitude; otherwise infinity.
  @_noLocks
  func decode(
    _ source: UnsafeRawPointer, frames: Int, into target: UnsafeMutablePointer<Float>,
    measures: Bool
  ) -> Float {
    guard case .s16LE = format, isInterleaved else {
      decodeEach(source, frames, target)
      return .infinity
    }
    let samples = source.assumingMemoryBound(to: Int16.self)
    let count = frames &* channelCount
    if measures { return vectors_decode16_and_measure(target, samples, count) }
    vectors_decode16(target, samples, count)
    return .infinity
  }

  @_noLocks @inline(never)
  private func decodeEach(
    _ source: UnsafeRawPointer, _ frames: Int, _ target: UnsafeMutablePointer<Float>
  ) {
    withCoding { coding in
      forEachSample(frames, sampleBytes: coding.byteCount) { index, offset in
        target[index] = coding.load(source + offset)
      }
    }
  }

  /// Converts `frames` frames to the device's format. Returns the number of samples that were not a
  /// number (NaN). They become silence.
  @_noLocks
  func encode(
    _ source: UnsafePointer<Float>, frames: Int, into target: UnsafeMutableRawPointer
  ) -> Int {
    switch format {
    case .s16LE where isInterleaved:
      vectors_encode16(
        target.assumingMemoryBound(to: Int16.self), source, frames &* channelCount)
    case .s32LE where isInterleaved:
      vectors_encode32(
        target.assumingMemoryBound(to: Int32.self), source, frames &* channelCount)
    default: encodeEach(source, frames, target)
    }
  }

  @_noLocks @inline(never)
  private func encodeEach(
    _ source: UnsafePointer<Float>, _ frames: Int, _ target: UnsafeMutableRawPointer
  ) -> Int {
    var nanCount: Int32 = 0
    withCoding { coding in
      forEachSample(frames, sampleBytes: coding.byteCount) { index, offset in
        let sample = source[index]
        nanCount &+= sample == sample ? 0 : 1
        coding.store(sample == sample ? sample : 0, target + offset)
      }
    }
    return Int(nanCount)
  }

  @_noLocks
  func clear(_ target: UnsafeMutableRawPointer, frames: Int) {
    if isInterleaved { return realtime_clear(target, frames &* frameStride) }
    forEachSample(frames, sampleBytes: format.byteCount) { _, offset in
      realtime_clear(target + offset, format.byteCount)
    }
  }

  /// Calls `body` with the coding of the format, which is a constant in each case: each format gets
  /// a separate loop.
  @_noLocks @inline(__always)
  private func withCoding(_ body: (SampleCoding) -> Void) {
    switch format {
    case .s16LE: body(SampleCoding(2, bits: 16))
    case .s16BE: body(SampleCoding(2, bits: 16, .big))
    case .s24LE: body(SampleCoding(4, bits: 24))
    case .s24BE: body(SampleCoding(4, bits: 24, .big))
    case .s24Packed3LE: body(SampleCoding(3, bits: 24))
    case .s24Packed3BE: body(SampleCoding(3, bits: 24, .big))
    case .s32LE: body(SampleCoding(4, bits: 32))
    case .s32BE: body(SampleCoding(4, bits: 32, .big))
    case .floatLE: body(SampleCoding(4, bits: 0))
    case .floatBE: body(SampleCoding(4, bits: 0, .big))
    }
  }

  /// Calls `body` for each sample, with its index in a buffer and its byte offset in the device's
  /// memory.
  @_noLocks @inline(__always)
  private func forEachSample(_ frames: Int, sampleBytes: Int, _ body: (Int, Int) -> Void) {
    if isInterleaved {
      let count = frames &* channelCount
      var index = 0
      while index < count {
        body(index, index &* sampleBytes)
        index &+= 1
      }
      return
    }
    var channel = 0
    while channel < channelCount {
      let first = offsets.map { $0[channel] } ?? channel &* channelStride
      var frame = 0
      while frame < frames {
        body(frame &* channelCount &+ channel, first &+ frame &* frameStride)
        frame &+= 1
      }
      channel &+= 1
    }
  }
}

/// The byte offsets of the channels that a unit uses in a device's frame: memory that a
/// `DeviceLayout` points to.
struct ChannelOffsets: ~Copyable, @unchecked Sendable {
  // @unchecked because nothing writes to the memory after the initialiser.

  /// The number of channels that are used; nil if all are used in their own order.
  let count: Int?
  private let memory: UnsafeMutablePointer<Int>?

  /// Creates the offsets of the channels of `selection`, in frames whose channels are
  /// `channelStride` bytes apart.
  init(_ selection: ChannelSelection?, channelStride: Int) {
    count = selection?.channels.count
    memory = selection.map { selection in
      let memory = UnsafeMutablePointer<Int>.allocate(capacity: selection.channels.count)
      for (index, channel) in selection.channels.enumerated() {
        (memory + index).initialize(to: (channel - 1) * channelStride)
      }
      return memory
    }
  }

  deinit {
    memory?.deallocate()
  }

  /// The number of bytes from the start of a frame to each channel; nil if all channels are used in
  /// order.
  var offsets: UnsafePointer<Int>? {
    @_noLocks get { UnsafePointer(memory) }
  }
}

/// A part of a device's own memory, in the device's own format: one piece, or two if its ring
/// buffer wraps. Audio thread.
///
/// A device lends it between the start and the end of a cycle. It owns no memory.
public struct DeviceFrames: BitwiseCopyable {
  var first: UnsafeMutableRawPointer
  var second: UnsafeMutableRawPointer
  var firstCount: Int
  var frameCount: Int
  let layout: DeviceLayout

  @_noLocks
  init(
    first: UnsafeMutableRawPointer, second: UnsafeMutableRawPointer, firstCount: Int,
    frameCount: Int, layout: DeviceLayout
  ) {
    self.first = first
    self.second = second
    self.firstCount = firstCount
    self.frameCount = frameCount
    self.layout = layout
  }

  /// Ends the program with a sentence unless `frames` frames are here, from `firstFrame` on, and in
  /// `buffer`, from `place` on, with the same channels.
  @_noLocks
  @inline(__always)
  private func requireFrames(
    _ frames: Int, from firstFrame: Int, _ buffer: borrowing SampleBuffer, at place: Int
  ) {
    requirement(
      buffer.channelCount == layout.channelCount,
      "The buffer must have the number of channels that the device was opened with.")
    requirement(
      firstFrame >= 0 && frames >= 0 && firstFrame <= frameCount &- frames,
      "The frames are outside of the buffer.")
    requirement(
      place >= 0 && place <= buffer.frameCount &- frames,
      "The buffer is shorter than the cycle: it needs periodFrames of the configuration.")
  }

  /// Copies `frames` frames, from `firstFrame` on, into `buffer`, from its frame `target` on.
  /// Returns their highest magnitude if `measures` is true and the conversion finds it; otherwise
  /// infinity.
  @_noLocks @discardableResult
  func decode(
    from firstFrame: Int, frames: Int, into buffer: inout SampleBuffer, at target: Int,
    measures: Bool = false
  ) -> Float {
    requireFrames(frames, from: firstFrame, buffer, at: target)
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    let base = buffer.base + target &* layout.channelCount
    var peak: Float = 0
    if inFirst > 0 {
      peak = layout.decode(
        first + firstFrame &* layout.frameStride, frames: inFirst, into: base, measures: measures)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      let rest = layout.decode(
        second + start &* layout.frameStride, frames: frames &- inFirst,
        into: base + inFirst &* layout.channelCount, measures: measures)
      peak = max(peak, rest)
    }
    return peak
  }

  /// Copies `frames` frames of `buffer`, from `source` on, to `firstFrame` and after. Returns the
  /// number of samples that were not a number (NaN) and were written as silence.
  @_noLocks
  func encode(
    _ buffer: borrowing SampleBuffer, from source: Int, frames: Int, at firstFrame: Int
  ) -> Int {
    requireFrames(frames, from: firstFrame, buffer, at: source)
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    let base = UnsafePointer(buffer.base) + source &* layout.channelCount
    var nanCount = 0
    if inFirst > 0 {
      nanCount = layout.encode(
        base, frames: inFirst, into: first + firstFrame &* layout.frameStride)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      nanCount &+= layout.encode(
        base + inFirst &* layout.channelCount, frames: frames &- inFirst,
        into: second + start &* layout.frameStride)
    }
    return nanCount
  }

  /// Writes silence to `frames` frames from `firstFrame` on. Zero bytes are silence in every signed
  /// and float format.
  @_noLocks
  func clear(from firstFrame: Int, frames: Int) {
    requirement(
      firstFrame >= 0 && frames >= 0 && firstFrame <= frameCount &- frames,
      "The frames are outside of the buffer.")
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    if inFirst > 0 {
      layout.clear(first + firstFrame &* layout.frameStride, frames: inFirst)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      layout.clear(second + start &* layout.frameStride, frames: frames &- inFirst)
    }
  }
}

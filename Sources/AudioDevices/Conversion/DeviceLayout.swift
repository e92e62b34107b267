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

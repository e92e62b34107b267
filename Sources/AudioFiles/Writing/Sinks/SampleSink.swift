import Glibc
import RealtimeAudio

/// A destination of a writer's samples: one file layout. Releasing it completes the file, but only
/// `close` reports whether that succeeded.
protocol SampleSink: AnyObject {
  /// The number of frames written; after a failure, the number of frames that are in the file.
  var frameCount: Int { get }

  /// Whether the data written so far can be read by other programs.
  var isReadable: Bool { get }

  /// The file descriptor of the file.
  var descriptor: Int32 { get }

  /// Whether the file is not closed yet.
  var isOpen: Bool { get }

  /// Metadata of the file; a format that cannot store it ignores it.
  var notes: RecordingNotes { get set }

  /// Appends frames. `scratch` has room for `frames` frames at four bytes a sample.
  ///
  /// If it throws, the frames written before remain readable, and some of these frames may be
  /// readable as well.
  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError)

  /// Makes the file valid with its present contents. It is cheap, and changes nothing if nothing
  /// was written since the last call.
  func refresh() throws(SystemError)

  /// Waits until all written data is on the disk.
  func synchronize() throws(SystemError)

  /// Completes and closes the file.
  func close() throws(SystemError)
}

extension SampleSink {
  func synchronize() throws(SystemError) {
    try checkOpen()
    try OutputBytes.synchronize(descriptor)
  }

  /// Throws EBADF if the file is closed: the number of its descriptor may belong to another file.
  func checkOpen() throws(SystemError) {
    if !isOpen { throw SystemError(number: EBADF) }
  }
}

/// Conversion of samples to a file's sample format.
extension FileSampleFormat {
  /// Converts `count` samples to bytes, the least significant byte first. `bytes` has room for
  /// `count * byteCount` bytes.
  func pack(_ samples: UnsafePointer<Float>, count: Int, into bytes: UnsafeMutableRawPointer) {
    switch self {
    case .s16:
      let integers = bytes.bindMemory(to: Int16.self, capacity: count)
      SixteenBitSamples.encode(samples, into: integers, count: count)
      #if _endian(big)
        for index in 0..<count { integers[index] = integers[index].littleEndian }
      #endif
    case .s24:
      let octets = bytes.bindMemory(to: UInt8.self, capacity: 3 * count)
      for index in 0..<count {
        let value = quantized(samples[index], scale: 0x1p23)
        octets[3 * index] = UInt8(truncatingIfNeeded: value)
        octets[3 * index + 1] = UInt8(truncatingIfNeeded: value >> 8)
        octets[3 * index + 2] = UInt8(truncatingIfNeeded: value >> 16)
      }
    case .s32:
      let integers = bytes.bindMemory(to: Int32.self, capacity: count)
      for index in 0..<count {
        integers[index] = quantized(samples[index], scale: 0x1p31).littleEndian
      }
    case .float:
      let patterns = bytes.bindMemory(to: UInt32.self, capacity: count)
      for index in 0..<count {
        patterns[index] = numbered(samples[index]).bitPattern.littleEndian
      }
    }
  }

  /// Converts `count` samples to 32-bit integers that hold the sample in the high bits, as encoders
  /// require.
  func widen(
    _ samples: UnsafePointer<Float>, count: Int, into integers: UnsafeMutablePointer<Int32>
  ) {
    let bits = significantBits
    let scale: Double = bits == 16 ? 0x1p15 : bits == 24 ? 0x1p23 : 0x1p31
    for index in 0..<count {
      integers[index] = quantized(samples[index], scale: scale) << Int32(32 - bits)
    }
  }
}

/// Returns the integer nearest to a sample whose full scale is `scale`; of two equally near
/// integers, the even one. Values beyond full scale become full scale, and not a number (NaN)
/// becomes zero.
@inline(__always)
private func quantized(_ sample: Float, scale: Double) -> Int32 {
  let value = min(max(Double(numbered(sample)) * scale, -scale), scale - 1)
  // Adding 1.5 * 2^52 leaves no bits for a fraction: the processor rounds, and the lowest bits are
  // the integer.
  return Int32(truncatingIfNeeded: (value + 0x1.8p52).bitPattern)
}

/// Returns `sample`, or zero if it is not a number (NaN), which would disrupt whatever processes
/// it.
@inline(__always)
func numbered(_ sample: Float) -> Float {
  sample == sample ? sample : 0
}

/// Memory in which samples are converted to a file's sample format, one piece at a time.
struct PackingSpace: ~Copyable {
  let base: UnsafeMutableRawPointer
  /// The number of frames that fit, at four bytes a sample.
  let frameCount: Int

  init(channelCount: Int) {
    frameCount = max(1, 8192 / channelCount)
    base = .allocate(byteCount: frameCount * channelCount * 4, alignment: 64)
  }

  deinit {
    base.deallocate()
  }
}

import RealtimeAudio

/// Destination of a writer's samples: one way of laying out a file. When it is released, it
/// completes the file, but only `close` tells whether it could.
protocol SampleSink: AnyObject {
  /// Frames written; after a failure those that are in the file.
  var frameCount: Int { get }

  /// Whether what is in the file by now can be read by others.
  var isReadable: Bool { get }

  /// File descriptor of the file.
  var descriptor: Int32 { get }

  /// Metadata of the file; a format that has no place for it ignores it.
  var notes: RecordingNotes { get set }

  /// Appends frames. `scratch` has room for as many, at four bytes a sample.
  ///
  /// When it throws, what was written before can still be read, and some of these frames may be,
  /// too.
  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError)

  /// Makes the file valid as it stands. Cheap, and changes nothing where nothing was written.
  func refresh() throws(SystemError)

  /// Waits until all that was handed on is on the disk.
  func synchronize() throws(SystemError)

  /// Completes and closes the file.
  func close() throws(SystemError)
}

extension SampleSink {
  func synchronize() throws(SystemError) { try OutputBytes.synchronize(descriptor) }
}

/// Samples on their way into a file.
extension FileSampleFormat {
  /// Lays `count` samples out as bytes, the least significant first. `bytes` has room for
  /// `count * byteCount` of them.
  func pack(_ samples: UnsafePointer<Float>, count: Int, into bytes: UnsafeMutableRawPointer) {
    switch self {
    case .s16:
      let words = bytes.bindMemory(to: Int16.self, capacity: count)
      SixteenBitSamples.encode(samples, into: words, count: count)
      #if _endian(big)
        for index in 0..<count { words[index] = words[index].littleEndian }
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
      let words = bytes.bindMemory(to: Int32.self, capacity: count)
      for index in 0..<count {
        words[index] = quantized(samples[index], scale: 0x1p31).littleEndian
      }
    case .float:
      let words = bytes.bindMemory(to: UInt32.self, capacity: count)
      for index in 0..<count {
        words[index] = numbered(samples[index]).bitPattern.littleEndian
      }
    }
  }

  /// The same as 32-bit integers with the sound in the high bits, as encoders take them.
  func widen(_ samples: UnsafePointer<Float>, count: Int, into words: UnsafeMutablePointer<Int32>) {
    let bits = significantBits
    let scale: Double = bits == 16 ? 0x1p15 : bits == 24 ? 0x1p23 : 0x1p31
    for index in 0..<count {
      words[index] = quantized(samples[index], scale: scale) << Int32(32 - bits)
    }
  }
}

/// The nearest integer (of two the even one) to a sample whose full scale is `scale`; beyond full
/// scale, full scale; zero for what is no number.
@inline(__always)
private func quantized(_ sample: Float, scale: Double) -> Int32 {
  let value = min(max(Double(numbered(sample)) * scale, -scale), scale - 1)
  // Adding 1.5 * 2^52 leaves no room for a fraction: the processor rounds, and the lowest bits are
  // the integer.
  return Int32(truncatingIfNeeded: (value + 0x1.8p52).bitPattern)
}

/// `sample`, or zero for what is no number and would deafen or break whatever reads it.
@inline(__always)
func numbered(_ sample: Float) -> Float {
  sample == sample ? sample : 0
}

/// Memory in which samples take the shape that a file gives them, a few at a time.
struct PackingSpace: ~Copyable {
  let base: UnsafeMutableRawPointer
  /// Frames that fit, at four bytes a sample.
  let frameCount: Int

  init(channelCount: Int) {
    frameCount = max(1, 8192 / channelCount)
    base = .allocate(byteCount: frameCount * channelCount * 4, alignment: 64)
  }

  deinit {
    base.deallocate()
  }
}

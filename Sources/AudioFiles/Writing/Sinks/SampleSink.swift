/// Where a writer's samples go: one way of laying out a file. Let go of, it completes the file, but
/// only `close` tells whether it could.
protocol SampleSink: AnyObject {
  /// Frames written; after a failure those that are in the file.
  var frameCount: Int { get }

  /// Whether what is in the file by now can be read by others.
  var isReadable: Bool { get }

  /// What the kernel knows the file by.
  var descriptor: Int32 { get }

  /// What the file says beside its sound; a format that cannot say it ignores it.
  var notes: RecordingNotes { get set }

  /// Appends frames. `scratch` has room for as many, at four bytes a sample.
  ///
  /// When it throws, what was written before can still be read, and some of these frames may be, too.
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
      for index in 0..<count {
        let value = Int16(truncatingIfNeeded: quantized(samples[index], scale: 0x1p15))
        bytes.storeBytes(of: value.littleEndian, toByteOffset: index * 2, as: Int16.self)
      }
    case .s24:
      for index in 0..<count {
        let value = quantized(samples[index], scale: 0x1p23)
        bytes.storeBytes(
          of: UInt8(truncatingIfNeeded: value), toByteOffset: index * 3, as: UInt8.self)
        bytes.storeBytes(
          of: Int16(truncatingIfNeeded: value >> 8).littleEndian, toByteOffset: index * 3 + 1,
          as: Int16.self)
      }
    case .s32:
      for index in 0..<count {
        let value = quantized(samples[index], scale: 0x1p31)
        bytes.storeBytes(of: value.littleEndian, toByteOffset: index * 4, as: Int32.self)
      }
    case .float:
      for index in 0..<count {
        let bits = numbered(samples[index]).bitPattern.littleEndian
        bytes.storeBytes(of: bits, toByteOffset: index * 4, as: UInt32.self)
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
  // Adding 1.5 * 2^52 leaves no room for a fraction: the processor rounds, without a call.
  return Int32(clamping: (value + 0x1.8p52) - 0x1.8p52)
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

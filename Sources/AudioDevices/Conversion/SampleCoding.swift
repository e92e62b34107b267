// Audio thread.
import AudioBasics
import CRealtime

/// The encoding of one sample in memory, and its conversion from and to Float. Integers are scaled
/// by a power of two, so 16-bit and 24-bit samples pass through a Float unchanged. NaN is read as
/// silence, and callers of `store` replace it by silence.
///
/// The properties are constants at each use, so that each format gets a separate loop.
struct SampleCoding: BitwiseCopyable {
  enum ByteOrder: BitwiseCopyable {
    case little, big
  }

  let byteCount: Int
  /// The number of bits of an integer, which are the low bits of its bytes; 0 for a Float.
  private let bits: Int
  private let isSwapped: Bool

  @_noLocks @inline(__always)
  init(_ byteCount: Int, bits: Int, _ order: ByteOrder = .little) {
    self.byteCount = byteCount
    self.bits = bits
    isSwapped = order == .big
  }

  @_noLocks @inline(__always)
  func load(_ source: UnsafeRawPointer) -> Float {
    let word = loadWord(source)
    guard bits > 0 else {
      let sample = Float(bitPattern: word)
      return sample == sample ? sample : 0
    }
    // The bits above the sample are shifted out.
    return Float(Int32(bitPattern: word &<< UInt32(32 &- bits))) * 0x1p-31
  }

  /// Writes one sample. The bits above the sample are copies of its sign.
  @_noLocks @inline(__always)
  func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let word = bits > 0 ? UInt32(bitPattern: quantized(value)) : value.bitPattern
    switch byteCount {
    case 2:
      let half = UInt16(truncatingIfNeeded: word)
      realtime_store16(target, isSwapped ? half.byteSwapped : half)
    case 3:
      let upper = UInt16(truncatingIfNeeded: word &>> 8)
      realtime_store16(
        target, isSwapped ? upper.byteSwapped : UInt16(truncatingIfNeeded: word))
      realtime_store8(target + 2, UInt8(truncatingIfNeeded: isSwapped ? word : word &>> 16))
    default: realtime_store32(target, isSwapped ? word.byteSwapped : word)
    }
  }

  @_noLocks @inline(__always)
  private func loadWord(_ source: UnsafeRawPointer) -> UInt32 {
    guard byteCount < 4 else {
      let word = realtime_load32(source)
      return isSwapped ? word.byteSwapped : word
    }
    let half = realtime_load16(source)
    let first = UInt32(isSwapped ? half.byteSwapped : half)
    guard byteCount == 3 else { return first }
    let last = UInt32(realtime_load8(source + 2))
    return isSwapped ? first &<< 8 | last : last &<< 16 | first
  }

  /// Returns `value` times full scale, rounded to the nearest integer and clamped to the range of
  /// the format.
  @_noLocks @inline(__always)
  private func quantized(_ value: Float) -> Int32 {
    let fullScale = Float(UInt32(1) &<< UInt32(bits &- 1))
    // The largest Float that the format can represent.
    let highest = bits == 32 ? 2_147_483_520 : fullScale - 1
    let scaled = max(-fullScale, min(highest, value * fullScale))
    // From 2^23 on every Float is already an integer, and adding 0.5 would change odd integers.
    let half: Float = abs(scaled) < 8_388_608 ? 0.5 : 0
    let offset = scaled < 0 ? -half : half
    return realtime_truncated(max(-fullScale, min(highest, scaled + offset)))
  }
}

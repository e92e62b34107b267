// Audio thread.
// How one sample of each format is read from and written to memory. Integers are scaled by a power
// of two, so 16 and 24 bits survive the way through a Float unchanged. NaN is read as silence, and no
// sample stored is NaN.

import AudioBasics
import CRealtime

/// `value` times `fullScale`, rounded to the nearest integer and held between the format's ends.
/// `highest` is the largest Float that the format holds.
@_noLocks @inline(__always)
func quantized(_ value: Float, fullScale: Float, highest: Float) -> Int32 {
  let scaled = max(-fullScale, min(highest, value * fullScale))
  // From 2^23 on every Float is an integer already, and adding a half would round odd ones away.
  let half: Float = abs(scaled) < 8_388_608 ? 0.5 : 0
  let offset = scaled < 0 ? -half : half
  return realtime_truncated(max(-fullScale, min(highest, scaled + offset)))
}

enum S16 {
  static var byteCount: Int { @_noLocks @inline(__always) get { 2 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    Float(Int16(bitPattern: realtime_load16(source))) * (1 / 32768)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = Int16(truncatingIfNeeded: quantized(value, fullScale: 32768, highest: 32767))
    realtime_store16(target, UInt16(bitPattern: sample))
  }
}

enum S16BigEndian {
  static var byteCount: Int { @_noLocks @inline(__always) get { 2 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    Float(Int16(bitPattern: realtime_load16(source).byteSwapped)) * (1 / 32768)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = Int16(truncatingIfNeeded: quantized(value, fullScale: 32768, highest: 32767))
    realtime_store16(target, UInt16(bitPattern: sample).byteSwapped)
  }
}

/// The low 24 bits of a word; what stands above them is ignored, and written as the sign.
enum S24 {
  static var byteCount: Int { @_noLocks @inline(__always) get { 4 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    Float((Int32(bitPattern: realtime_load32(source)) << 8) >> 8) * (1 / 8_388_608)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = quantized(value, fullScale: 8_388_608, highest: 8_388_607)
    realtime_store32(target, UInt32(bitPattern: sample))
  }
}

enum S24BigEndian {
  static var byteCount: Int { @_noLocks @inline(__always) get { 4 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    Float((Int32(bitPattern: realtime_load32(source).byteSwapped) << 8) >> 8) * (1 / 8_388_608)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = quantized(value, fullScale: 8_388_608, highest: 8_388_607)
    realtime_store32(target, UInt32(bitPattern: sample).byteSwapped)
  }
}

enum S24Packed {
  static var byteCount: Int { @_noLocks @inline(__always) get { 3 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    let high = UInt32(realtime_load8(source + 2))
    let sample = Int32(bitPattern: high << 24 | UInt32(realtime_load16(source)) << 8) >> 8
    return Float(sample) * (1 / 8_388_608)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = quantized(value, fullScale: 8_388_608, highest: 8_388_607)
    realtime_store16(target, UInt16(truncatingIfNeeded: sample))
    realtime_store8(target + 2, UInt8(truncatingIfNeeded: sample >> 16))
  }
}

enum S24PackedBigEndian {
  static var byteCount: Int { @_noLocks @inline(__always) get { 3 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    let low = UInt32(realtime_load8(source + 2))
    let upper = UInt32(realtime_load16(source).byteSwapped)
    return Float(Int32(bitPattern: upper << 16 | low << 8) >> 8) * (1 / 8_388_608)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = quantized(value, fullScale: 8_388_608, highest: 8_388_607)
    realtime_store16(target, UInt16(truncatingIfNeeded: sample >> 8).byteSwapped)
    realtime_store8(target + 2, UInt8(truncatingIfNeeded: sample))
  }
}

enum S32 {
  static var byteCount: Int { @_noLocks @inline(__always) get { 4 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    Float(Int32(bitPattern: realtime_load32(source))) * (1 / 2_147_483_648)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = quantized(value, fullScale: 2_147_483_648, highest: 2_147_483_520)
    realtime_store32(target, UInt32(bitPattern: sample))
  }
}

enum S32BigEndian {
  static var byteCount: Int { @_noLocks @inline(__always) get { 4 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    Float(Int32(bitPattern: realtime_load32(source).byteSwapped)) * (1 / 2_147_483_648)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    let sample = quantized(value, fullScale: 2_147_483_648, highest: 2_147_483_520)
    realtime_store32(target, UInt32(bitPattern: sample).byteSwapped)
  }
}

enum Float32Layout {
  static var byteCount: Int { @_noLocks @inline(__always) get { 4 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    let sample = Float(bitPattern: realtime_load32(source))
    return sample == sample ? sample : 0
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    realtime_store32(target, value.bitPattern)
  }
}

enum Float32BigEndian {
  static var byteCount: Int { @_noLocks @inline(__always) get { 4 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    let sample = Float(bitPattern: realtime_load32(source).byteSwapped)
    return sample == sample ? sample : 0
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    realtime_store32(target, value.bitPattern.byteSwapped)
  }
}

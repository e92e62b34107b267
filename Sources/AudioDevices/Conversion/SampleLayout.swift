// Audio thread.
// How one sample of each format is read from and written to memory. Integers are scaled by a power
// of two, so 16 and 24 bits survive the way through a Float unchanged. No sample stored is NaN.

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
    Float(bitPattern: realtime_load32(source))
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    realtime_store32(target, value.bitPattern)
  }
}

enum Float32BigEndian {
  static var byteCount: Int { @_noLocks @inline(__always) get { 4 } }
  @_noLocks @inline(__always) static func load(_ source: UnsafeRawPointer) -> Float {
    Float(bitPattern: realtime_load32(source).byteSwapped)
  }
  @_noLocks @inline(__always) static func store(_ value: Float, _ target: UnsafeMutableRawPointer) {
    realtime_store32(target, value.bitPattern.byteSwapped)
  }
}

/// The eight samples from `index` on, times `fullScale`, held between its negative and `highest`; NaN
/// becomes silence. Adds one to `numbers` for each that was a number.
@_noLocks @inline(__always)
func eightSamples(
  _ source: UnsafePointer<Float>, at index: Int, fullScale: Float, highest: Float,
  numbers: inout SIMD8<Int32>
) -> SIMD8<Float> {
  let samples = UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Float>.self)
  numbers.replace(with: numbers &+ 1, where: samples .== samples)
  var scaled = samples * fullScale
  scaled.replace(with: 0, where: samples .!= samples)
  // In this order of operands each is one instruction.
  let lowest = SIMD8<Float>(repeating: -fullScale)
  scaled = lowest.replacing(with: scaled, where: scaled .> lowest)
  let ceiling = SIMD8<Float>(repeating: highest)
  return ceiling.replacing(with: scaled, where: scaled .< ceiling)
}

/// Writes floats as 16-bit integers eight at a time: the format of most cards, and half the work of
/// a short cycle. Rounded to the nearest, saturated; NaN becomes silence and is counted.
@_noLocks
func encodeS16(
  _ source: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Int16>
) -> Int {
  // Added to a number below 2^22, it leaves that number, rounded, in the low bits of the sum.
  let magic: Float = 12_582_912
  var numbers = SIMD8<Int32>(repeating: 0)
  var index = 0
  while index &+ 8 <= count {
    let scaled = eightSamples(
      source, at: index, fullScale: 32768, highest: 32767, numbers: &numbers)
    let bits = unsafeBitCast(scaled + magic, to: SIMD8<Int32>.self)
    target[index] = Int16(truncatingIfNeeded: bits[0])
    target[index &+ 1] = Int16(truncatingIfNeeded: bits[1])
    target[index &+ 2] = Int16(truncatingIfNeeded: bits[2])
    target[index &+ 3] = Int16(truncatingIfNeeded: bits[3])
    target[index &+ 4] = Int16(truncatingIfNeeded: bits[4])
    target[index &+ 5] = Int16(truncatingIfNeeded: bits[5])
    target[index &+ 6] = Int16(truncatingIfNeeded: bits[6])
    target[index &+ 7] = Int16(truncatingIfNeeded: bits[7])
    index &+= 8
  }
  var nanCount = Int32(truncatingIfNeeded: index) &- numbers.wrappedSum()
  while index < count {
    let sample = source[index]
    let isNumber = sample == sample
    nanCount &+= isNumber ? 0 : 1
    let scaled = max(-32768, min(32767, isNumber ? sample * 32768 : 0))
    target[index] = Int16(truncatingIfNeeded: Int32(bitPattern: (scaled + magic).bitPattern))
    index &+= 1
  }
  return Int(nanCount)
}

/// Writes floats as 32-bit integers eight at a time: the widest format of most cards, and so the one
/// that is chosen. Rounded to the nearest, saturated; NaN becomes silence and is counted.
@_noLocks
func encodeS32(
  _ source: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Int32>
) -> Int {
  var numbers = SIMD8<Int32>(repeating: 0)
  var index = 0
  while index &+ 8 <= count {
    // The highest float below 2^31: above it lies none that an integer holds.
    var scaled = eightSamples(
      source, at: index, fullScale: 2_147_483_648, highest: 2_147_483_520, numbers: &numbers)
    withUnsafePointer(to: &scaled) { lanes in
      realtime_round8(target + index, UnsafeRawPointer(lanes).assumingMemoryBound(to: Float.self))
    }
    index &+= 8
  }
  var nanCount = Int32(truncatingIfNeeded: index) &- numbers.wrappedSum()
  while index < count {
    let sample = source[index]
    nanCount &+= sample == sample ? 0 : 1
    S32.store(sample == sample ? sample : 0, UnsafeMutableRawPointer(target + index))
    index &+= 1
  }
  return Int(nanCount)
}

// Audio thread.

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
  var notNumbers = Int32(truncatingIfNeeded: index) &- numbers.wrappedSum()
  while index < count {
    let sample = source[index]
    let isNumber = sample == sample
    notNumbers &+= isNumber ? 0 : 1
    let scaled = max(-32768, min(32767, isNumber ? sample * 32768 : 0))
    target[index] = Int16(truncatingIfNeeded: Int32(bitPattern: (scaled + magic).bitPattern))
    index &+= 1
  }
  return Int(notNumbers)
}

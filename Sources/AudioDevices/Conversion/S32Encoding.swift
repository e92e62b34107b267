// Audio thread.
import CRealtime

/// Writes floats as 32-bit integers eight at a time: the widest format of most cards, and so the one
/// that is chosen. Rounded to the nearest, saturated; NaN becomes silence and is counted.
@_noLocks
func encodeS32(
  _ source: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Int32>
) -> Int {
  // The highest float below 2^31: above it lies none that an integer holds.
  let highest = SIMD8<Float>(repeating: 2_147_483_520)
  let lowest = SIMD8<Float>(repeating: -2_147_483_648)
  let one = SIMD8<Int32>(repeating: 1)
  var numbers = SIMD8<Int32>(repeating: 0)
  var index = 0
  while index &+ 8 <= count {
    let samples = SIMD8(
      source[index], source[index &+ 1], source[index &+ 2], source[index &+ 3],
      source[index &+ 4], source[index &+ 5], source[index &+ 6], source[index &+ 7])
    numbers.replace(with: numbers &+ one, where: samples .== samples)
    var scaled = samples * 2_147_483_648
    scaled.replace(with: 0, where: samples .!= samples)
    // In this order of operands each is one instruction.
    scaled = lowest.replacing(with: scaled, where: scaled .> lowest)
    scaled = highest.replacing(with: scaled, where: scaled .< highest)
    withUnsafePointer(to: &scaled) { lanes in
      realtime_round8(target + index, UnsafeRawPointer(lanes).assumingMemoryBound(to: Float.self))
    }
    index &+= 8
  }
  var notNumbers = Int32(truncatingIfNeeded: index) &- numbers.wrappedSum()
  while index < count {
    let sample = source[index]
    notNumbers &+= sample == sample ? 0 : 1
    S32.store(sample == sample ? sample : 0, UnsafeMutableRawPointer(target + index))
    index &+= 1
  }
  return Int(notNumbers)
}

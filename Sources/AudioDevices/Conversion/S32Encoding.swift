// Audio thread.
import CRealtime

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
  var notNumbers = Int32(truncatingIfNeeded: index) &- numbers.wrappedSum()
  while index < count {
    let sample = source[index]
    notNumbers &+= sample == sample ? 0 : 1
    S32.store(sample == sample ? sample : 0, UnsafeMutableRawPointer(target + index))
    index &+= 1
  }
  return Int(notNumbers)
}

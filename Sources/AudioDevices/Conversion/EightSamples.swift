// Audio thread.

/// The eight samples from `index` on, times `fullScale`, held between its negative and `highest`; NaN
/// becomes silence. Adds one to `numbers` for each that was a number.
@_noLocks @inline(__always)
func eightSamples(
  _ source: UnsafePointer<Float>, at index: Int, fullScale: Float, highest: Float,
  numbers: inout SIMD8<Int32>
) -> SIMD8<Float> {
  let samples = SIMD8(
    source[index], source[index &+ 1], source[index &+ 2], source[index &+ 3],
    source[index &+ 4], source[index &+ 5], source[index &+ 6], source[index &+ 7])
  numbers.replace(with: numbers &+ 1, where: samples .== samples)
  var scaled = samples * fullScale
  scaled.replace(with: 0, where: samples .!= samples)
  // In this order of operands each is one instruction.
  let lowest = SIMD8<Float>(repeating: -fullScale)
  scaled = lowest.replacing(with: scaled, where: scaled .> lowest)
  let ceiling = SIMD8<Float>(repeating: highest)
  return ceiling.replacing(with: scaled, where: scaled .< ceiling)
}

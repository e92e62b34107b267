// Audio thread.

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

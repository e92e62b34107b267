// Audio thread.

/// Memory layout of the weights of an inner product, so that its sum is rounded little more than
/// its result.
///
/// Nearly all of a sum comes from the eight samples in the middle. Their weights follow behind all
/// others, and are multiplied and added up to 53 bits; in their own place lies only what rounding
/// them to 24 bits took from them. So all others, and these rests, are added up to 24 bits as one
/// plain inner product, whose errors are as small as its sum: what a converter adds to a sine lies
/// 148 dB below it instead of 138, for a quarter more time.
enum WeightRow {
  /// Samples that a row of `weights` weights, a multiple of 8, takes.
  @_noLocks
  static func sampleCount(weights: Int) -> Int { weights &+ 8 }

  /// Where the eight in the middle of `weights` weights begin.
  @_noLocks
  static func middle(weights: Int) -> Int { weights / 2 &- 4 }

  /// Moves the eight in the middle behind all others: where they are known to 24 bits only.
  @_noLocks
  static func moveMiddle(of row: UnsafeMutablePointer<Float>, weights: Int) {
    let weight = row + middle(weights: weights)
    UnsafeMutableRawPointer(row + weights).storeBytes(
      of: InnerProduct.eight(weight), as: SIMD8<Float>.self)
    UnsafeMutableRawPointer(weight).storeBytes(of: .zero, as: SIMD8<Float>.self)
  }

  /// Sets the eight in the middle: behind all others, and what rounding takes from them is added in
  /// their own place.
  @_noLocks
  static func addMiddle(
    _ exact: SIMD8<Double>, to row: UnsafeMutablePointer<Float>, weights: Int
  ) {
    let rounded = InnerProduct.rounded(exact)
    let rest = InnerProduct.rounded(exact - InnerProduct.exact(rounded))
    UnsafeMutableRawPointer(row + weights).storeBytes(of: rounded, as: SIMD8<Float>.self)
    let weight = row + middle(weights: weights)
    UnsafeMutableRawPointer(weight).storeBytes(
      of: InnerProduct.eight(weight) + rest, as: SIMD8<Float>.self)
  }
}

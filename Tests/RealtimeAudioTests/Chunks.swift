/// A generator of reproducible random sizes.
struct Chunks {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// Returns a size from 1 to `most`. (Knuth's linear congruential generator.)
  mutating func next(upTo maximum: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % maximum + 1
  }
}

/// A generator of reproducible random numbers from -1 to 1.
package struct Chance {
  private var state: UInt64

  package init(_ seed: UInt64) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  }

  package mutating func next() -> Double {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Double(state >> 11) / 4_503_599_627_370_496 - 1
  }
}

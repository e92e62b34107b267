// Audio thread.

/// A random number generator that returns the same numbers for the same seed: SplitMix64 (G. L.
/// Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
/// Not for secrets.
///
/// ```swift
/// var numbers = SplitMix64(seed: 1)
/// let order = (0..<10).shuffled(using: &numbers)
/// ```
public struct SplitMix64: RandomNumberGenerator, BitwiseCopyable, Sendable {
  @usableFromInline var state: UInt64

  /// Creates the sequence of `seed`. Seeds that differ by a multiple of `step` return the same
  /// sequence with an offset; `mixed` seeds do not.
  @_noLocks @inlinable
  public init(seed: UInt64) { state = seed }

  /// The increment of the state per number.
  public static var step: UInt64 { @_noLocks @inlinable get { 0x9E37_79B9_7F4A_7C15 } }

  /// Returns the next number.
  @_noLocks @inlinable @inline(__always)
  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mixed(state)
  }

  /// Converts a state to a number, each bit of which depends on all bits of `state`.
  @_noLocks @inlinable @inline(__always)
  public static func mixed(_ state: UInt64) -> UInt64 {
    var word = state
    word = (word ^ (word &>> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word &>> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word &>> 31)
  }
}

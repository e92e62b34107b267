// Audio thread.

import CVectors

/// Least-squares regression lines through the latest values of four series, for any requested
/// number of values.
///
/// Three sums are stored with each value: the sum S of all values up to it, the sum T of these
/// sums, and the sum Q of the squares. The sums over the last L values up to n are S(n) - S(n-L)
/// and Q(n) - Q(n-L); the sum weighted by the age plus one is T(n) - T(n-L) - L S(n-L). All sums
/// are whole numbers in units of 1/1024 or of its square. They wrap around at 64 bits, and the
/// differences remain exact for any duration.
package struct RegressionSums: ~Copyable, Sendable {
  private struct Entry: BitwiseCopyable {
    var sum = SIMD4<Int64>(repeating: 0)
    var sumOfSums = SIMD4<Int64>(repeating: 0)
    var squares = SIMD4<Int64>(repeating: 0)
  }

  // Only the thread that owns the value writes to this memory.
  private nonisolated(unsafe) let entries: UnsafeMutablePointer<Entry>
  private let mask: Int
  private var newest = 0

  /// Creates sums for lines through fewer than `capacity` values, a power of two. All values are
  /// `value` at first.
  package init(capacity: Int, value: Float) {
    mask = capacity - 1
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: Entry(), count: capacity)
    fill(with: value)
  }

  deinit { entries.deallocate() }

  /// Returns the values rounded to multiples of 1/1024.
  @_noLocks @inlinable @inline(__always)
  package static func rounded(_ values: SIMD4<Float>) -> SIMD4<Float> {
    // The sum cannot represent digits below 1/1024.
    let large = SIMD4<Float>(repeating: 12288)
    return values + large - large
  }

  /// Sets all previous values to `value`.
  @_noLocks
  package mutating func fill(with value: Float) {
    var left = mask &+ 1
    while left > 0 {
      add(SIMD4(repeating: value))
      left &-= 1
    }
  }

  /// Adds a value to each series. It must be a multiple of 1/1024 with a magnitude of at most 4096.
  @_noLocks
  package mutating func add(_ values: SIMD4<Float>) {
    let last = entries + newest
    newest = (newest &+ 1) & mask
    let next = entries + newest
    let whole = float4_in_1024ths(values)
    let sum = integer4_sum(last.pointee.sum, whole)
    next.pointee.sum = sum
    next.pointee.sumOfSums = integer4_sum(last.pointee.sumOfSums, sum)
    next.pointee.squares = integer4_sum(last.pointee.squares, integer4_product(whole, whole))
  }

  /// Returns the slopes of the lines through the last `length` values of each series, per value,
  /// and the mean squared residuals.
  @_noLocks
  package func fits(length: Int) -> (slopes: SIMD4<Float>, rests: SIMD4<Float>) {
    let (last, first) = (entries + newest, entries + ((newest &- length) & mask))
    let count = Double(length)
    let unit = 0x1p-10
    let wholeSums = integer4_difference(last.pointee.sum, first.pointee.sum)
    let before = integer4_product(first.pointee.sum, SIMD4(repeating: Int64(length)))
    let weightedSums = integer4_difference(
      integer4_difference(last.pointee.sumOfSums, first.pointee.sumOfSums), before)
    let sums = integer4_as_double4(wholeSums) * unit
    // The sums of the products with the time, relative to the middle of the line.
    let moments = sums * ((count + 1) / 2) - integer4_as_double4(weightedSums) * unit
    let squares =
      integer4_as_double4(integer4_difference(last.pointee.squares, first.pointee.squares))
      * (unit * unit)
    let slopes = moments * (12 / (count * (count * count - 1)))
    let rests = (squares - sums * sums * (1 / count) - slopes * moments) * (1 / count)
    return (SIMD4(slopes), SIMD4(rests))
  }
}

// Audio thread.

/// The line that fits the latest values of four series best, by least squares: of each the sum,
/// that of its squares and that of its products with time are kept, which the newest value is added
/// to and the oldest is taken off.
///
/// Values are whole multiples of 1/1024 up to 200, so all sums are exact, and no error adds up
/// however long it runs.
struct RunningLine: BitwiseCopyable {
  private let middle: Double
  /// The reciprocals of the number of values, and of the sum of the squares of their times.
  private let share: Double
  private let slopeShare: Double
  private var sums = SIMD4<Double>(repeating: 0)
  private var squares = SIMD4<Double>(repeating: 0)
  /// Products with the time from the middle of the line on.
  private var moments = SIMD4<Double>(repeating: 0)

  /// Lines through `length` values, each of which is `value`.
  @_noLocks
  init(length: Int, value: Double) {
    let count = Double(length)
    middle = (count - 1) / 2
    share = 1 / count
    slopeShare = 12 / (count * (count * count - 1))
    sums = SIMD4(repeating: value * count)
    squares = sums * value
  }

  /// A value rounded to what sums are exact of.
  @_noLocks @inline(__always)
  static func rounded(_ values: SIMD4<Float>) -> SIMD4<Float> {
    // The sum has no room for digits below 1/1024.
    let large = SIMD4<Float>(repeating: 12288)
    return values + large - large
  }

  /// Adds `newest`, and takes off `oldest`, which was added `length` values before.
  @_noLocks @inline(__always)
  mutating func replace(_ oldest: SIMD4<Double>, with newest: SIMD4<Double>) {
    moments += middle * newest - sums + (middle + 1) * oldest
    sums += newest - oldest
    squares += newest * newest - oldest * oldest
  }

  /// The slopes of the lines, and the mean squares of what each series is off its line.
  @_noLocks @inline(__always)
  func fits() -> (slopes: SIMD4<Float>, rests: SIMD4<Float>) {
    let slopes = moments * slopeShare
    let rests = (squares - sums * sums * share - slopes * moments) * share
    return (SIMD4(slopes), SIMD4(rests))
  }
}

import Testing

@testable import AudioLevels

@Suite struct RegressionSumsTests {
  /// Returns the slope of the line through `values` and the mean square of the deviations from it,
  /// each calculated by its definition.
  private func line(through values: [Double]) -> (slope: Double, rest: Double) {
    let middle = Double(values.count - 1) / 2
    let mean = values.reduce(0, +) / Double(values.count)
    let times = values.indices.map { Double($0) - middle }
    var products = 0.0
    var squares = 0.0
    for (time, value) in zip(times, values) {
      products += time * value
      squares += time * time
    }
    let slope = products / squares
    var rests = 0.0
    for (time, value) in zip(times, values) {
      let rest = value - mean - slope * time
      rests += rest * rest
    }
    return (slope, rests / Double(values.count))
  }

  @Test(arguments: [2, 48, 96, 384, 511])
  func `a line is fitted to the latest values, however many preceded them`(length: Int) {
    var sums = RegressionSums(capacity: 512, value: -200)
    // 30 million values: the sums of sums have overflowed 64 bits several times.
    for _ in 0..<60_000 { sums.fill(with: -200) }
    let values = (0..<700).map { count in
      let place = SIMD4<Float>(SIMD4(3, 5, 7, 11) &* Int32(count) % 401)
      return RegressionSums.rounded(place * 0.999 - 200)
    }
    for four in values { sums.add(four) }
    let latest = values.suffix(length)
    let (slopes, rests) = sums.fits(length: length)
    for series in 0..<4 {
      let wanted = line(through: latest.map { Double($0[series]) })
      #expect(abs(Double(slopes[series]) - wanted.slope) <= 1e-6 * abs(wanted.slope) + 1e-6)
      #expect(abs(Double(rests[series]) - wanted.rest) <= 1e-5 * wanted.rest + 1e-6)
    }
  }

  @Test func `a straight line has its slope and no residual, and a zigzag its mean square`() {
    var sums = RegressionSums(capacity: 64, value: 0)
    for time in 0..<48 {
      let zigzag: Float = time.isMultiple(of: 2) ? 1 : -1
      sums.add(SIMD4(0.25 * Float(time), -100 + 0.5 * Float(time), 0, zigzag))
    }
    let (slopes, rests) = sums.fits(length: 48)
    #expect(slopes[0] == 0.25 && slopes[1] == 0.5 && slopes[2] == 0)
    #expect(rests[0] < 1e-6 && rests[1] < 1e-6 && rests[2] == 0 && abs(rests[3] - 1) < 0.01)
  }

  @Test func `fill(with:) replaces all earlier values`() {
    var sums = RegressionSums(capacity: 64, value: 0)
    for time in 0..<100 { sums.add(SIMD4(repeating: Float(time))) }
    sums.fill(with: -200)
    sums.add(SIMD4(repeating: -100))
    let (slopes, rests) = sums.fits(length: 48)
    let wanted = line(through: [Double](repeating: -200, count: 47) + [-100])
    #expect(abs(Double(slopes[2]) - wanted.slope) < 1e-5)
    #expect(abs(Double(rests[2]) - wanted.rest) < 1e-3)
  }
}

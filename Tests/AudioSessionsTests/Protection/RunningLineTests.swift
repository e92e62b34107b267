import Testing

@testable import AudioSessions

@Suite struct RunningLineTests {
  @Test func `after many values a line is still that of the latest ones alone`() {
    var line = RunningLine(length: 48, value: -200)
    var latest = [SIMD4<Float>](repeating: SIMD4(repeating: -200), count: 48)
    for count in 0..<100_000 {
      let place = SIMD4<Float>(SIMD4(3, 5, 7, 11) &* Int32(count % 4001) % 4001)
      let level = RunningLine.rounded(place * 0.0999 - 200)
      line.replace(SIMD4<Double>(latest[count % 48]), with: SIMD4<Double>(level))
      latest[count % 48] = level
    }
    var alone = RunningLine(length: 48, value: 0)
    let zero = SIMD4<Double>(repeating: 0)
    for age in 0..<48 { alone.replace(zero, with: SIMD4<Double>(latest[(100_000 + age) % 48])) }
    #expect(line.fits().slopes == alone.fits().slopes)
    #expect(line.fits().rests == alone.fits().rests)
  }

  @Test func `a straight line has its slope and nothing left, and a zigzag its square`() {
    var line = RunningLine(length: 48, value: 0)
    for time in 0..<48 {
      let zigzag: Float = time.isMultiple(of: 2) ? 1 : -1
      let level = SIMD4<Float>(0.25 * Float(time), -100 + 0.5 * Float(time), 0, zigzag)
      line.replace(SIMD4(repeating: 0), with: SIMD4<Double>(level))
    }
    let (slopes, rests) = line.fits()
    #expect(slopes[0] == 0.25 && slopes[1] == 0.5 && slopes[2] == 0)
    #expect(rests[0] < 1e-6 && rests[1] < 1e-6 && rests[2] == 0 && abs(rests[3] - 1) < 0.01)
  }
}

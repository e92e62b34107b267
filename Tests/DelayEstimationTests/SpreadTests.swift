import AudioSpectra
import DelayEstimation
import Testing

@Suite struct SpreadTests {
  @Test func `the statistics of five measurements equal textbook values`() throws {
    let spread = try #require(Spread(of: [3, 1, 2, 5, 4]))
    #expect(spread.median == 3)
    #expect(spread.mean == 3)
    #expect(abs(spread.standardDeviation - 1.5811) < 1e-4)
    #expect(abs(spread.interval95.upperBound - 3 - 1.9630) < 1e-3)
    #expect(spread.minimum == 1)
    #expect(spread.maximum == 5)
    #expect(spread.jitter == 1.75)
  }

  @Test func `one measurement has the given deviation, or 0, and no measurement has no spread`()
    throws
  {
    let spread = try #require(Spread(of: [7]))
    #expect(spread.standardDeviation == 0)
    #expect(spread.interval95 == 7...7)
    #expect(Spread(of: []) == nil)
    let known = try #require(Spread(of: [7], deviationOfOne: 0.5))
    #expect(known.standardDeviation == 0.5 && abs(known.interval95.upperBound - 7.98) < 1e-9)
  }

  @Test(arguments: [
    [.nan, 1], [1, .nan, 2], [.infinity, 1, 2], [-.infinity], [1e308, 1e308, -1e308],
  ])
  func `values that are not finite, or whose mean is not, have no spread`(values: [Double]) {
    #expect(Spread(of: values) == nil)
  }

  @Test(arguments: [.nan, .infinity, -1])
  func `a deviation that is negative or not finite gives no spread`(deviation: Double) {
    #expect(Spread(of: [7], deviationOfOne: deviation) == nil)
  }

  @Test(arguments: [2, 100, 1023, 48000])
  func `the inverse transform of a spectrum is the signal`(frames: Int) throws {
    guard let transform = FourierTransform(atLeast: frames) else { throw OutOfMemory() }
    let length = transform.length
    #expect(length >= frames)
    let signal = ProbeSignal(seed: 2, frames: frames).samples
    let back = transform.signal(of: transform.spectrum(of: signal.span))
    for frame in 0..<frames { #expect(abs(back[frame] - signal[frame]) < 1e-5) }
  }

  @Test func `the power of a tone is in its bin`() throws {
    guard let transform = FourierTransform(atLeast: 64) else { throw OutOfMemory() }
    let tone: [Float] = (0..<64).map { $0 % 4 == 0 ? 1 : $0 % 4 == 2 ? -1 : 0 }
    let spectrum = transform.spectrum(of: tone.span)
    for (bin, value) in spectrum.enumerated() {
      #expect(abs(value.power - (bin == 16 ? 1024 : 0)) < 1e-3)
    }
  }
}

private struct OutOfMemory: Error {}

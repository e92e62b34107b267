import Testing

@testable import AudioSessions

@Suite struct ProvenLoopTests {
  /// A loop of 2 dB with a round trip of 20 hops, measured at a microphone gain of -1 dB.
  private var loop: ProvenLoop {
    var fit = LoopFit.none
    (fit.lag, fit.gain) = (40, 2)
    return ProvenLoop(fit, band: 2, gain: -1)
  }

  @Test func `the growth in a loop depends on the gain of the microphone`() {
    #expect(loop.band == 2 && abs(loop.tripHops - 20.2) < 0.001)
    #expect(abs(loop.growth(at: -1) - 2 / 20.2) < 0.0001)
    #expect(loop.growth(at: -3) == 0 && loop.growth(at: -6) < 0)
  }
}

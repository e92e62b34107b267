import AudioBasics
import Glibc
import Testing

@testable import AudioSessions

/// Tests of the measurement of a loop's gain with a code of dips.
@Suite struct LoopGainEstimatorTests {
  /// A loop with a gain in dB, and a delay and a ringing time in hops. The sound from outside grows
  /// by `growth` dB per hop.
  struct Loop {
    var gain: Double
    var hops = 9
    var ringing = 0.0
    var outside = 1.0
    var growth = 0.0

    /// Returns the result of the last stage of a code in this loop.
    func fit(isDeep: Bool) -> LoopFit? {
      var history = LevelHistory()
      var estimator = LoopGainEstimator()
      let factor = pow(10, gain / 20)
      var returned = 0.0
      var (heard, played): ([Double], [Double]) = ([], [])
      var found: LoopFit?
      for hop in -400..<90 {
        // The edges of a dip are ramps of one hop.
        let edges = [hop - 1, hop].map {
          PerturbationCode.isDip($0)
            ? pow(10, Double(LoopGainEstimator.dip(isDeep: isDeep)) / 20) : 1
        }
        let dip = ((edges[0] * edges[0] + edges[0] * edges[1] + edges[1] * edges[1]) / 3)
          .squareRoot()
        let back = played.count < hops ? 0 : played[played.count - hops]
        returned += (factor * back - returned) / (1 + ringing)
        let level = returned + outside * 0.001 * pow(10, growth * Double(hop + 400) / 20)
        heard.append(level)
        played.append(level * dip)
        let power = heard.suffix(4).reduce(0) { $0 + $1 * $1 } / 4
        if hop == 0 { estimator.begin(history, band: 1, isDeep: isDeep, continues: false) }
        history.add(SIMD4(repeating: Float(10 * log10(power + 1e-20))), gain: 0)
        guard hop >= 0 else { continue }
        var energies = SIMD4<Float>()
        for age in 0..<4 { energies[age] = Float(pow(heard[heard.count - 1 - age], 2)) }
        if let fit = estimator.listen(history, band: 1, energies: energies), fit.stage == 2 {
          found = fit
        }
      }
      return found
    }
  }

  @Test(arguments: [false, true], [-12.0, -6, -3, -1, -0.5])
  func `the gain of a loop below 0 dB is measured`(isDeep: Bool, gain: Double)
    throws
  {
    for growth in [0, 0.05, 0.1] {
      let fit = try #require(Loop(gain: gain, growth: growth).fit(isDeep: isDeep))
      let loop = fit.partial
      #expect(loop.lag == 18 && abs(Double(loop.gain) - gain) < 0.3, "\(fit)")
      #expect(!fit.confirmsFeedback(limited: 0), "\(fit)")
    }
  }

  @Test(arguments: [false, true], [0.3, 1, 3])
  func `a loop above 0 dB is proved`(isDeep: Bool, gain: Double) throws {
    for ringing in [0.0, 1, 2.5] {
      let loop = Loop(gain: gain, ringing: ringing, outside: gain > 2 ? 1e-9 : 1e-3)
      let fit = try #require(loop.fit(isDeep: isDeep))
      #expect(abs(fit.lag - 18) <= 1 && abs(Double(fit.gain) - gain) < 0.3, "\(fit)")
      #expect(fit.confirmsFeedback(limited: 0), "\(fit)")
    }
  }

  @Test func `a repetition without a loop proves nothing`() throws {
    // The level repeats every nine hops, independently of the output.
    var history = LevelHistory()
    var estimator = LoopGainEstimator()
    for hop in -400..<90 {
      if hop == 0 { estimator.begin(history, band: 0, isDeep: true, continues: false) }
      let level = Float(-20 + 3 * sin(2 * Double.pi * Double(hop) / 9))
      history.add(SIMD4(repeating: level), gain: 0)
      let energies = SIMD4<Float>(repeating: 1)
      if hop >= 0, let fit = estimator.listen(history, band: 0, energies: energies) {
        #expect(!fit.confirmsFeedback(limited: 0) && fit.residualRatio > 0.65, "\(fit)")
      }
    }
  }
}

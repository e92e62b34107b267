import AudioBasics
import Testing

@testable import AudioSessions

@Suite struct GainPerturbationTests {
  private static let hopFrames = 128

  /// Returns the levels in dB of ones after a perturbation, in the last frame of each hop, where a
  /// ramp is one step from its end.
  private func levels(_ perturbation: inout GainPerturbation, hops: Int) -> [Double] {
    (0..<hops).map { _ in
      var sound = SampleBuffer(frameCount: Self.hopFrames, channelCount: 1)
      for frame in 0..<Self.hopFrames { sound[frame] = 1 }
      perturbation.process(&sound, frames: Self.hopFrames)
      return Decibels.level(sound[Self.hopFrames - 1])
    }
  }

  @Test(arguments: [false, true])
  func `the level falls in each dip of the code`(isDeep: Bool) {
    var perturbation = GainPerturbation(hopFrames: Self.hopFrames)
    #expect(perturbation.isTransparent)
    perturbation.begin(isDeep: isDeep, after: 0)
    let levels = levels(&perturbation, hops: PerturbationCode.hops + 2)
    for (hop, level) in levels.enumerated() {
      let wanted = PerturbationCode.isDip(hop) ? Double(LoopGainEstimator.dip(isDeep: isDeep)) : 0
      #expect(abs(level - wanted) < 0.05, "hop \(hop)")
    }
  }

  @Test func `a code begins after the requested frames, within a hop`() {
    var perturbation = GainPerturbation(hopFrames: Self.hopFrames)
    perturbation.begin(isDeep: true, after: 5 * Self.hopFrames + 64)
    let levels = levels(&perturbation, hops: PerturbationCode.hops + 10)
    let first = 5 + ((0..<PerturbationCode.hops).first(where: PerturbationCode.isDip) ?? 0)
    #expect(levels.prefix(first).allSatisfy { $0 == 0 })
    // The ramp of the first dip is half done at the end of this hop.
    #expect(levels[first] < -1 && levels[first] > -2)
    #expect(abs(levels[first + 1] + 3) < 0.05)
  }

  @Test func `a code that is paused keeps its gain, and one that ends returns to unity`() {
    var perturbation = GainPerturbation(hopFrames: Self.hopFrames)
    perturbation.begin(isDeep: true, after: 0)
    let first = (0..<PerturbationCode.hops).first(where: PerturbationCode.isDip) ?? 0
    _ = levels(&perturbation, hops: first + 2)
    perturbation.pause()
    let paused = levels(&perturbation, hops: 9)
    #expect(!perturbation.isSending && paused.allSatisfy { abs($0 + 3) < 0.01 })
    perturbation.end()
    _ = levels(&perturbation, hops: 1)
    #expect(perturbation.isTransparent)
  }
}

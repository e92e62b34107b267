import Testing

@testable import AudioSessions

@Suite struct DecayTestTests {
  /// Returns the result of the test, and the number of hops that it took, for a sound at -35 dBFS
  /// in a loop with `loopGain` and a delay of ten hops. `minimum` is the level of the sound from
  /// outside.
  private func result(loopGain: Float, measured: Float = 0, minimum: Float) -> (Bool?, hops: Int) {
    var fit = LoopFit.none
    fit.lag = 20
    fit.gain = measured
    var test = DecayTest(of: fit, level: -35, gain: 0)
    var levels = [Float](repeating: -35, count: 40)
    for hop in 0..<1000 {
      // The microphone is attenuated: after the first trip, each trip changes the level by the
      // loop's gain.
      let level = max(minimum, -35 + loopGain + (loopGain + test.gain) * Float(hop / 10))
      levels.append(level)
      let isFalling = level < levels[levels.count - 33] - 1
      if let isHowl = test.follow(level: level, isFalling: isFalling) { return (isHowl, hop) }
    }
    return (nil, 1000)
  }

  @Test(arguments: [0.1, 0.5, 1, 1.5, 4, 6] as [Float])
  func `a sound that decays with the loop's gain is a howl`(loopGain: Float) {
    // The measured gain is wrong by up to 0.5 dB, as measurements with codes are.
    for error in [-0.5, 0, 0.5] as [Float] {
      let measured = max(0, loopGain + error)
      #expect(result(loopGain: loopGain, measured: measured, minimum: -80).0 == true)
    }
  }

  @Test func `a sound that does not decay comes from outside`() {
    let (isHowl, hops) = result(loopGain: -200, minimum: -35)
    #expect(isHowl == false && hops < 160)
  }

  @Test func `a sound that loses only the loop's amplification comes from outside`() {
    // The loop amplifies the sound by 1 / (1 - 0.966), 29 dB, and with 3 dB less gain by 10 dB.
    #expect(result(loopGain: -0.3, minimum: -54).0 == false)
  }

  @Test(arguments: [-0.5, -1, -3] as [Float])
  func `a sound that decays too fast is not a howl`(loopGain: Float) {
    #expect(result(loopGain: loopGain, minimum: -80).0 == false)
  }

  @Test func `the gain of the microphone is reduced by 3 dB more than the loop's gain`() {
    var fit = LoopFit.none
    fit.gain = 1.5
    #expect(DecayTest(of: fit, level: -35, gain: -1).gain == -5.5)
    fit.gain = -0.2
    #expect(DecayTest(of: fit, level: -35, gain: 0).gain == -3)
  }
}

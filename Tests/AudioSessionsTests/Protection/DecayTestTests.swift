import Testing

@testable import AudioSessions

@Suite struct DecayTestTests {
  /// Returns the result of the test, and the number of hops that it took, for a sound at `start`
  /// dBFS, which is loud or not, in a loop with `loopGain` and a delay of ten hops. `minimum` is the
  /// level of the sound from outside.
  private func result(
    loopGain: Float, measured: Float = 0, minimum: Float, isLoud: Bool = false, start: Float? = nil
  ) -> (Bool?, hops: Int) {
    var fit = LoopFit.none
    fit.lag = 20
    fit.gain = measured
    let start = start ?? (isLoud ? -10 : -35)
    var test = DecayTest(of: fit, level: start, gain: 0, isLoud: isLoud)
    var history = LevelHistory()
    for _ in 0..<40 { history.add(SIMD4(repeating: start), gain: 0) }
    for hop in 0..<1000 {
      // The microphone is attenuated: after the first trip, each trip changes the level by the
      // loop's gain.
      let level = max(minimum, start + loopGain + (loopGain + test.gain) * Float(hop / 10))
      history.add(SIMD4(repeating: level), gain: 0)
      if let isHowl = test.follow(history, band: 1) { return (isHowl, hop) }
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

  @Test func `a howl may end in the noise of the microphone`() {
    for minimum in [-80, -71.5] as [Float] {
      #expect(result(loopGain: 0.2, measured: 0.2, minimum: minimum, start: -54).0 == true)
      #expect(result(loopGain: -1, minimum: minimum, start: -54).0 == false)
      #expect(result(loopGain: -30, minimum: minimum, start: -54).0 == false)
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
    #expect(DecayTest(of: fit, level: -35, gain: -1, isLoud: false).gain == -5.5)
    fit.gain = -0.2
    #expect(DecayTest(of: fit, level: -35, gain: 0, isLoud: false).gain == -3)
  }

  @Test(arguments: [0.1, 0.5, 1, 1.5] as [Float])
  func `a loud sound that decays with the loop's gain is a howl within five round trips`(
    loopGain: Float
  ) {
    for error in [-0.5, 0, 0.5] as [Float] {
      let (isHowl, hops) = result(
        loopGain: loopGain, measured: max(0, loopGain + error), minimum: -80, isLoud: true)
      #expect(isHowl == true && hops < 50)
    }
  }

  @Test func `a loud sound that loses only the loop's amplification comes from outside`() {
    // A loop of -0.5 dB amplifies the sound by 25 dB, and with 14 dB less gain by 2 dB.
    #expect(result(loopGain: -0.5, minimum: -33, isLoud: true).0 == false)
  }

  @Test func `a loud sound that dies away slowly comes from outside`() {
    // In each round trip it loses 4 dB, and a howl would lose 14 dB.
    #expect(result(loopGain: 10, measured: 0.5, minimum: -80, isLoud: true).0 == false)
  }

  @Test func `a loud sound that ends by itself is not a howl`() {
    // Only its echo is left, and decays by 3 dB more in each round trip than a howl does.
    #expect(result(loopGain: -3, minimum: -100, isLoud: true).0 == false)
  }

  @Test func `a loud howl is held as low afterwards as a quiet one`() {
    var fit = LoopFit.none
    fit.gain = 1.5
    let test = DecayTest(of: fit, level: -10, gain: 0, isLoud: true)
    #expect(test.gain == -15.5 && test.safeGain == -4.5)
  }
}

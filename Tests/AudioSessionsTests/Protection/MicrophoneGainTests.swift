import AudioBasics
import Testing

@testable import AudioSessions

@Suite struct MicrophoneGainTests {
  private static let hopFrames = 128

  /// Applies the gain to one hop of ones. Returns the last sample in dB.
  private func level(_ gain: inout MicrophoneGain) -> Double {
    var sound = SampleBuffer(frameCount: Self.hopFrames, channelCount: 1)
    for frame in 0..<Self.hopFrames { sound[frame] = 1 }
    gain.process(&sound, frames: Self.hopFrames)
    return Decibels.level(sound[Self.hopFrames - 1])
  }

  /// Raises the gain for `hops` hops. Returns whether it was completely restored.
  private func raise(_ gain: inout MicrophoneGain, hops: Int) -> Bool {
    (0..<hops).reduce(false) { isRestored, _ in gain.raise() || isRestored }
  }

  @Test func `a ducked microphone is 40 dB lower after two hops`() {
    var gain = MicrophoneGain(hopFrames: Self.hopFrames)
    #expect(gain.isTransparent && !gain.isRestricted)
    gain.duck(loopGain: 2)
    for _ in 0..<2 { _ = level(&gain) }
    let lowered = level(&gain)
    #expect(abs(lowered + 40) < 0.1 && gain.isRestricted)
  }

  @Test func `the gain returns at 15 dB per second to 3 dB below unity of the loop`() {
    var gain = MicrophoneGain(hopFrames: Self.hopFrames)
    gain.duck(loopGain: 2)
    // A second has 375 hops.
    var isRestored = raise(&gain, hops: 375)
    #expect(!isRestored && abs(gain.decibels + 25) < 0.1)
    isRestored = raise(&gain, hops: 4 * 375)
    #expect(!isRestored && abs(gain.decibels + 5) < 0.001)
  }

  @Test func `after ten seconds at the ceiling the rest returns at 1 dB per second`() {
    var gain = MicrophoneGain(hopFrames: Self.hopFrames)
    gain.duck(loopGain: 2)
    // 35 dB at 0.04 dB per hop.
    _ = raise(&gain, hops: 875 + 3750)
    #expect(abs(gain.decibels + 5) < 0.001)
    _ = raise(&gain, hops: 375)
    #expect(abs(gain.decibels + 4) < 0.01)
    let isRestored = raise(&gain, hops: 5 * 375)
    #expect(isRestored && gain.decibels == 0)
    #expect(!gain.isRestricted && gain.isTransparent)
  }

  @Test func `after a repeated howl the ceiling is 6 dB lower, and held for twice as long`() {
    var gain = MicrophoneGain(hopFrames: Self.hopFrames)
    gain.duck(loopGain: 0)
    _ = raise(&gain, hops: 1000)
    #expect(abs(gain.decibels + 3) < 0.001)
    gain.duck(loopGain: 0)
    _ = raise(&gain, hops: 775 + 7500)
    #expect(abs(gain.decibels + 9) < 0.001)
    _ = raise(&gain, hops: 375)
    #expect(abs(gain.decibels + 8) < 0.01)
  }

  @Test func `a gain that was lowered as a test is restored without a ceiling`() {
    var gain = MicrophoneGain(hopFrames: Self.hopFrames)
    gain.lower(to: -4)
    for _ in 0..<4 { _ = level(&gain) }
    let lowered = level(&gain)
    #expect(abs(lowered + 4) < 0.01 && !gain.isRestricted)
    gain.restore(to: 0)
    for _ in 0..<40 { _ = level(&gain) }
    #expect(gain.isTransparent)
  }
}

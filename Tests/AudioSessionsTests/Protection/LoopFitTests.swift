import Testing

@testable import AudioSessions

/// Tests of the criteria that prove a howl.
@Suite struct LoopFitTests {
  /// The result of a complete deep code in a loop of +0.5 dB that causes the whole level.
  private let howl = LoopFit(
    lag: 20, stage: 2, codes: 1, share: 0.97, residualRatio: 0.05, misfit: 0.3, part: -0.2,
    gain: 0.5,
    partial: PartialLoopFit(lag: 20, residualRatio: 0.04, part: -0.2, gain: 0.3))

  @Test func `a loop that explains the level and has 0 dB or more is a howl`() {
    #expect(howl.confirmsFeedback(limited: 0))
  }

  @Test func `a loop below 0 dB is not a howl`() {
    var tail = howl
    (tail.part, tail.gain) = (0.8, -0.5)
    #expect(!tail.confirmsFeedback(limited: 0) && !tail.needsRepeat(limited: 0, isLoud: true))
  }

  @Test func `a sound that a loop below 0 dB explains much better is not a howl`() {
    var swell = howl
    swell.partial = PartialLoopFit(lag: 21, residualRatio: 0.02, part: -1.6, gain: -0.6)
    #expect(!swell.confirmsFeedback(limited: 0))
    // The smaller partial loop counts only if it explains much more, because a resonance may
    // resemble one.
    swell.partial.residualRatio = 0.04
    #expect(swell.confirmsFeedback(limited: 0))
  }

  @Test func `a repetition without the code is not a howl unless it leaves almost no residual`() {
    var repeated = howl
    repeated.residualRatio = 0.3
    repeated.partial.residualRatio = 0.28
    #expect(repeated.confirmsFeedback(limited: 0))
    repeated.share = 0.9
    #expect(!repeated.confirmsFeedback(limited: 0))
  }

  @Test func `a sound that only touches the limit needs a clearer result`() {
    var touching = howl
    (touching.share, touching.gain) = (0.9, 0.9)
    #expect(touching.confirmsFeedback(limited: 0))
    #expect(!touching.confirmsFeedback(limited: 0.5))
    touching.share = 0.96
    #expect(touching.confirmsFeedback(limited: 0.5))
  }

  /// The first result in a loop of +0.2 dB without a resonance, with a round trip of 50.6 ms.
  @Test func `half a code proves a howl whose gain equals the attenuation of the limiters`() {
    let balanced = LoopFit(
      lag: 39, stage: 0, codes: 1, share: 0.985, residualRatio: 0.018, misfit: 0.395, part: 0.179,
      gain: 0.147, partial: PartialLoopFit(lag: 39, residualRatio: 0.019, part: 0.179, gain: 0.326))
    #expect(balanced.confirmsFeedback(limited: 0.2))
    // An external sound makes the gain seem larger, and is a part of the level.
    #expect(!balanced.confirmsFeedback(limited: 0))
    var external = balanced
    external.gain = 0.6
    #expect(!external.confirmsFeedback(limited: 0.2))
    external.gain = 0.147
    external.part = -0.3
    #expect(!external.confirmsFeedback(limited: 0.2))
  }

  @Test func `a gain that exceeds the attenuation of the limiters is that of an external sound`() {
    var limited = howl
    (limited.share, limited.residualRatio, limited.gain) = (0.85, 0.2, 12)
    #expect(limited.confirmsFeedback(limited: 12.1))
    limited.gain = 12.6
    #expect(!limited.confirmsFeedback(limited: 12.1))
  }

  @Test(arguments: 0...1)
  func `a part of a code proves a howl only if the loop fits closely`(stage: Int) {
    var early = howl
    (early.stage, early.share, early.misfit) = (stage, 0.99, 0.05)
    #expect(early.confirmsFeedback(limited: 0))
    early.misfit = 0.3
    #expect(!early.confirmsFeedback(limited: 0))
  }

  @Test func `a residual proves nothing if a loop with a smaller part explains the level`() {
    var tail = howl
    tail.misfit = 0.8
    #expect(!tail.confirmsFeedback(limited: 0))
    tail.partial.part = 0.5
    #expect(tail.confirmsFeedback(limited: 0))
  }

  @Test func `a loop below 0 dB that explains the level by a third better is the likelier one`() {
    var swell = howl
    swell.partial = PartialLoopFit(lag: 20, residualRatio: 0.035, part: -0.2, gain: -0.4)
    #expect(!swell.confirmsFeedback(limited: 0))
    swell.partial.gain = 0.3
    #expect(swell.confirmsFeedback(limited: 0))
  }

  @Test
  func `half of a code proves a howl at the limit by less in a short loop than in a long one`() {
    var limited = howl
    (limited.stage, limited.share, limited.residualRatio, limited.gain) = (0, 0.95, 0.12, 12)
    #expect(!limited.confirmsFeedback(limited: 12.1))
    limited.lag = 6
    #expect(limited.confirmsFeedback(limited: 12.1))
  }

  @Test func `an attenuation of more than 13 dB needs a closer fit`() {
    var loud = howl
    (loud.share, loud.residualRatio, loud.gain) = (0.85, 0.2, 12)
    #expect(loud.confirmsFeedback(limited: 12.1))
    loud.gain = 17
    #expect(!loud.confirmsFeedback(limited: 17.1))
    loud.residualRatio = 0.1
    #expect(loud.confirmsFeedback(limited: 17.1))
  }

  @Test func `three codes with the same result prove a howl in a short loop`() {
    var short = howl
    (short.lag, short.share, short.residualRatio, short.misfit) = (1, 0.93, 0.4, 0.01)
    #expect(!short.confirmsFeedback(limited: 0))
    short.codes = 3
    #expect(short.confirmsFeedback(limited: 0))
  }

  @Test func `a steep rise needs a closer fit than a slow one`() {
    var word = howl
    (word.stage, word.share, word.misfit, word.gain) = (0, 0.987, 0.01, 5.9)
    #expect(!word.confirmsFeedback(limited: 0))
    word.gain = 0.5
    #expect(word.confirmsFeedback(limited: 0))
  }
}

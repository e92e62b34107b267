import Glibc
import Testing
import VoiceCleaning

@Suite(.enabled(if: TestVoices.canSpeak)) struct NoiseTests {
  @Test(arguments: [22050, 48000])
  func `noise is lowered in pauses, and speech is kept`(sampleRate: Int) throws {
    let speech = TestVoices.speech(seconds: 12, sampleRate: sampleRate, level: -20)
    let noise = TestVoices.noise(seconds: 12, sampleRate: sampleRate, level: -30)
    let run = try CleaningRun(
      CleaningSettings(denoise: true), zip(speech, noise).map { $0 + $1 }, sampleRate: sampleRate)
    // The noise is learned in the first seconds.
    let first = 4 * sampleRate
    let pauses = TestVoices.pauses(speech)
    let after = TestVoices.level(run.output, in: pauses, from: first, delay: run.delayFrames)
    #expect(after < -30 - 12)
    let sounding = TestVoices.sounding(speech)
    let before = TestVoices.level(speech, in: sounding, from: first)
    let kept = TestVoices.level(run.output, in: sounding, from: first, delay: run.delayFrames)
    #expect(abs(kept - before) < 2)
  }

  @Test func `speech without noise is let through`() throws {
    let speech = TestVoices.speech(seconds: 8, sampleRate: 48000, level: -20)
    let run = try CleaningRun(CleaningSettings(denoise: true), speech, sampleRate: 48000)
    let sounding = TestVoices.sounding(speech)
    let before = TestVoices.level(speech, in: sounding)
    let after = TestVoices.level(run.output, in: sounding, delay: run.delayFrames)
    #expect(abs(after - before) < 1)
  }

  @Test func `what is beyond full scale is cut off`() throws {
    let loud = TestVoices.speech(seconds: 4, sampleRate: 48000, level: 3)
    let run = try CleaningRun(CleaningSettings(denoise: true), loud, sampleRate: 48000)
    #expect(run.peak <= 1)
    // What wraps round instead changes its sign.
    let wrapped = loud.indices.dropLast(run.delayFrames).count {
      abs(loud[$0]) > 1 && loud[$0] * run.output[$0 + run.delayFrames] < -0.5
    }
    #expect(wrapped == 0)
  }
}

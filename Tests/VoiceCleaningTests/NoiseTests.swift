import Glibc
import Testing
import VoiceCleaning

@Suite(.enabled(if: TestVoices.canSpeak)) struct NoiseTests {
  @Test(arguments: [22050, 48000])
  func `noise is reduced in pauses, and speech is kept`(sampleRate: Int) throws {
    let speech = TestVoices.speech(seconds: 12, sampleRate: sampleRate, level: -20)
    let noise = TestVoices.noise(seconds: 12, sampleRate: sampleRate, level: -30)
    let run = try CleaningRun(
      CleaningSettings(denoise: true), zip(speech, noise).map { $0 + $1 }, sampleRate: sampleRate)
    // The noise level is estimated in the first seconds.
    let first = 4 * sampleRate
    let pauses = TestVoices.pauses(speech)
    let after = TestVoices.level(run.output, in: pauses, from: first, delay: run.delayFrames)
    #expect(after < -30 - 12)
    let sounding = TestVoices.sounding(speech)
    let before = TestVoices.level(speech, in: sounding, from: first)
    let kept = TestVoices.level(run.output, in: sounding, from: first, delay: run.delayFrames)
    #expect(abs(kept - before) < 2)
  }

  @Test(arguments: [16000, 48000])
  func `steady noise is reduced in the first second as much as later`(sampleRate: Int) throws {
    // Initial silence, as of a device that starts, has no influence.
    for silence in [0, sampleRate / 3] {
      var noise = TestVoices.noise(seconds: 5, sampleRate: sampleRate, level: -40)
      noise.replaceSubrange(0..<silence, with: repeatElement(0, count: silence))
      let run = try CleaningRun(
        CleaningSettings(denoise: true), noise, sampleRate: sampleRate)
      let stretches = noise.indices.filter { $0 % TestVoices.stretch == 0 }
      let first = stretches.map { (silence..<silence + sampleRate).contains($0) }
      let later = stretches.map { $0 > silence + 2 * sampleRate }
      let beginning = TestVoices.level(run.output, in: first, delay: run.delayFrames)
      let rest = TestVoices.level(run.output, in: later, delay: run.delayFrames)
      #expect(beginning < rest + 1)
      #expect(rest < -40 - 15)
    }
  }

  @Test(arguments: [(0, 48000), (1, 48000), (0, 16000), (1, 16000)])
  func `noise as loud as speech is reduced by more than speech is changed`(
    voice: Int, sampleRate: Int
  ) throws {
    let speech = TestVoices.speech(voice, seconds: 12, sampleRate: sampleRate, level: -20)
    // At 48 kHz much of the noise is at frequencies without speech.
    let bounds = sampleRate == 48000 ? [(-20.0, 11.5), (-25, 10.3)] : [(-20.0, 8.4), (-25, 7.4)]
    for (level, bound) in bounds {
      let noise = TestVoices.noise(seconds: 12, sampleRate: sampleRate, level: level)
      let heard = zip(speech, noise).map { $0 + $1 }
      let run = try CleaningRun(CleaningSettings(denoise: true), heard, sampleRate: sampleRate)
      let before = TestVoices.scaleInvariantRatio(heard, to: speech)
      let after = TestVoices.scaleInvariantRatio(run.output, to: speech, delay: run.delayFrames)
      #expect(after - before > bound)
    }
  }

  @Test func `the noise estimate follows noise that becomes louder`() throws {
    var noise = TestVoices.noise(seconds: 8, sampleRate: 48000, level: -50)
    for frame in 3 * 48000..<noise.count { noise[frame] *= 10 }
    let run = try CleaningRun(CleaningSettings(denoise: true), noise, sampleRate: 48000)
    let all = [Bool](repeating: true, count: noise.count / TestVoices.stretch)
    let after = TestVoices.level(
      run.output, in: all, from: 6 * 48000, delay: run.delayFrames)
    #expect(after < -30 - 12)
  }

  @Test func `speech without noise is passed unchanged`() throws {
    let speech = TestVoices.speech(seconds: 8, sampleRate: 48000, level: -20)
    let run = try CleaningRun(CleaningSettings(denoise: true), speech, sampleRate: 48000)
    let sounding = TestVoices.sounding(speech)
    let before = TestVoices.level(speech, in: sounding)
    let after = TestVoices.level(run.output, in: sounding, delay: run.delayFrames)
    #expect(abs(after - before) < 1)
  }

  @Test func `samples above full scale are limited and do not wrap around`() throws {
    let loud = TestVoices.speech(seconds: 4, sampleRate: 48000, level: 3)
    let run = try CleaningRun(CleaningSettings(denoise: true), loud, sampleRate: 48000)
    #expect(run.peak <= 1)
    // An overflow that wraps around changes the sign.
    let wrapped = loud.indices.dropLast(run.delayFrames).count {
      abs(loud[$0]) > 1 && loud[$0] * run.output[$0 + run.delayFrames] < -0.5
    }
    #expect(wrapped == 0)
  }
}

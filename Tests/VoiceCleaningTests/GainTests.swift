import Glibc
import Testing
import VoiceCleaning

@Suite(.enabled(if: TestVoices.canSpeak)) struct GainTests {
  private let settings = CleaningSettings(automaticGain: true)

  @Test(arguments: [
    (16000, 0, -40.0), (16000, 1, -40.0), (16000, 0, -30.0), (16000, 1, -10.0), (48000, 0, -40.0),
    (8000, 1, -20.0),
  ])
  func `speech comes to -20 dBFS`(sampleRate: Int, voice: Int, level: Double) throws {
    let speech = TestVoices.speech(voice, seconds: 14, sampleRate: sampleRate, level: level)
    let run = try CleaningRun(settings, speech, sampleRate: sampleRate)
    let after = TestVoices.level(
      run.output, in: TestVoices.sounding(speech), from: 7 * sampleRate, delay: run.delayFrames)
    #expect(abs(after + 20) < 4)
    #expect(run.peak <= 0.8913)
  }

  @Test func `a sudden shout is not clipped, and what follows comes back`() throws {
    let quiet = TestVoices.speech(seconds: 20, sampleRate: 48000, level: -40)
    var shout = quiet
    let loud = TestVoices.noise(seconds: 0.3, sampleRate: 48000, level: -6)
    for (index, sample) in loud.enumerated() { shout[10 * 48000 + index] += sample }
    let calm = try CleaningRun(settings, quiet, sampleRate: 48000)
    let run = try CleaningRun(settings, shout, sampleRate: 48000)
    #expect(run.peak <= 0.8913)
    let sounding = TestVoices.sounding(quiet)
    let expected = TestVoices.level(
      calm.output, in: sounding, from: 15 * 48000, delay: run.delayFrames)
    let found = TestVoices.level(
      run.output, in: sounding, from: 15 * 48000, delay: run.delayFrames)
    #expect(abs(found - expected) < 6)
  }

  @Test func `noise alone is not raised`() throws {
    let noise = TestVoices.noise(seconds: 10, sampleRate: 48000, level: -60)
    let run = try CleaningRun(settings, noise, sampleRate: 48000)
    let after = TestVoices.level(
      run.output, in: Array(repeating: true, count: 10_000), from: 5 * 48000)
    #expect(after < -50)
  }
}

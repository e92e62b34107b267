import Glibc
import Testing
import VoiceCleaning

@Suite(.enabled(if: TestVoices.canSpeak)) struct GainTests {
  private let settings = CleaningSettings(automaticGain: true)

  @Test(arguments: [
    (16000, 0, -40.0), (16000, 1, -40.0), (16000, 0, -30.0), (16000, 1, -10.0), (48000, 0, -40.0),
    (8000, 1, -20.0),
  ])
  func `speech is brought to -20 dBFS`(sampleRate: Int, voice: Int, level: Double) throws {
    let speech = TestVoices.speech(voice, seconds: 14, sampleRate: sampleRate, level: level)
    let run = try CleaningRun(settings, speech, sampleRate: sampleRate)
    let after = TestVoices.level(
      run.output, in: TestVoices.sounding(speech), from: 7 * sampleRate, delay: run.delayFrames)
    #expect(abs(after + 20) < 4)
    #expect(run.peak <= 0.8913)
  }

  @Test func `a sudden shout is not clipped, and the gain recovers afterwards`() throws {
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

  @Test(arguments: [(16000, 0), (48000, 1)])
  func `pauses are not raised, and words have the right level from their start`(
    sampleRate: Int, voice: Int
  ) throws {
    // Three seconds of speech, two seconds of pause.
    let spoken = TestVoices.speech(voice, seconds: 18, sampleRate: sampleRate, level: -40)
    var speech: [Float] = []
    for first in stride(from: 0, to: spoken.count, by: 3 * sampleRate) {
      speech += spoken[first..<first + 3 * sampleRate]
      speech += [Float](repeating: 0, count: 2 * sampleRate)
    }
    let noise = TestVoices.noise(seconds: 30, sampleRate: sampleRate, level: -60)
    let run = try CleaningRun(settings, zip(speech, noise).map { $0 + $1 }, sampleRate: sampleRate)
    let alone = try CleaningRun(settings, spoken, sampleRate: sampleRate)
    // From 1.3 s after the last word to the next one.
    var pauses = [Bool](repeating: false, count: speech.count / TestVoices.stretch)
    var onsets = pauses
    for second in stride(from: 10, to: 30, by: 5) {
      for index in pauses.indices {
        let time = Double(index * TestVoices.stretch) / Double(sampleRate) - Double(second)
        pauses[index] = pauses[index] || time > -0.7 && time < -0.1
        onsets[index] = onsets[index] || time > 0.02 && time < 0.25
      }
    }
    let level = TestVoices.level(run.output, in: pauses, delay: run.delayFrames)
    #expect(level < -58)
    let sounding = TestVoices.sounding(speech)
    let after = TestVoices.level(
      run.output, in: sounding, from: 10 * sampleRate, delay: run.delayFrames)
    let without = TestVoices.level(
      alone.output, in: TestVoices.sounding(spoken), from: 6 * sampleRate, delay: alone.delayFrames)
    #expect(abs(after - without) < 2)
    // The starts of words are raised by the same gain as all words.
    let words = zip(onsets, sounding).map { $0 && $1 }
    let raised =
      TestVoices.level(run.output, in: words, delay: run.delayFrames)
      - TestVoices.level(speech, in: words)
    let rest = after - TestVoices.level(speech, in: sounding, from: 10 * sampleRate)
    #expect(abs(raised - rest) < 2)
  }

  /// Noise at `level` dBFS (RMS) whose spectrum falls by 3 dB an octave for each `order`: white,
  /// pink or brown. Low-pass filters of first order, two octaves apart, add up to pink noise.
  private func noise(order: Int, seconds: Double, sampleRate: Int, level: Double) -> [Float] {
    let white = TestVoices.noise(seconds: seconds, sampleRate: sampleRate, level: 0)
    let corners = [[], [20.0, 80, 320, 1280, 5120], [20.0]][order]
    var sound = order == 0 ? white : [Float](repeating: 0, count: white.count)
    for corner in corners {
      let step = Float(1 - exp(-2 * .pi * corner / Double(sampleRate)))
      var state: Float = 0
      for index in sound.indices {
        state += step * (white[index] - state)
        sound[index] += state / Float(corner.squareRoot())
      }
    }
    let all = Array(repeating: true, count: sound.count / TestVoices.stretch)
    let gain = Float(pow(10, (level - TestVoices.level(sound, in: all)) / 20))
    return sound.map { $0 * gain }
  }

  @Test(arguments: [0, 1, 2], [-60.0, -50, -40])
  func `steady noise of any colour is not raised, neither alone nor in a pause`(
    order: Int, level: Double
  ) throws {
    let noise = noise(order: order, seconds: 30, sampleRate: 48000, level: level)
    let speech = TestVoices.speech(seconds: 8, sampleRate: 48000, level: -28)
    for words in [speech, []] {
      let sound = noise.enumerated().map { $1 + ($0 < words.count ? words[$0] : 0) }
      let run = try CleaningRun(settings, sound, sampleRate: 48000)
      for second in 10..<30 {
        let all = Array(repeating: true, count: (second + 1) * 48000 / TestVoices.stretch)
        let after = TestVoices.level(
          run.output, in: all, from: second * 48000, delay: run.delayFrames)
        let before = TestVoices.level(sound, in: all, from: second * 48000)
        #expect(after < before + 1)
      }
    }
  }

  @Test func `noise left by noise reduction is not raised`() throws {
    let noise = noise(order: 1, seconds: 25, sampleRate: 48000, level: -45)
    let speech = TestVoices.speech(seconds: 8, sampleRate: 48000, level: -28)
    let sound = noise.enumerated().map { $1 + ($0 < speech.count ? speech[$0] : 0) }
    let run = try CleaningRun(
      CleaningSettings(denoise: true, automaticGain: true), sound, sampleRate: 48000)
    let all = Array(repeating: true, count: 25 * 48000 / TestVoices.stretch)
    let after = TestVoices.level(run.output, in: all, from: 12 * 48000, delay: run.delayFrames)
    #expect(after < -55)
  }
}

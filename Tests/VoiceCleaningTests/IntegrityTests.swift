import AudioBasics
import Glibc
import Testing
import VoiceCleaning

/// Tests that the timeline, silence, non-finite samples and channels are handled correctly with all
/// settings.
@Suite struct IntegrityTests {
  /// All combinations of settings with at least one of them enabled.
  private static let combinations: [CleaningSettings] = (1..<32).map { bits in
    CleaningSettings(
      denoise: bits & 1 != 0, automaticGain: bits & 2 != 0, dereverb: bits & 16 != 0,
      highPassHertz: bits & 4 != 0 ? 80 : nil,
      echo: bits & 8 != 0 ? EchoSettings(delayFrames: 300) : nil)
  }
  private let sampleRate = 16000

  /// Returns bursts of noise: a signal with an unambiguous position in time that does not count as
  /// steady noise.
  private func bursts(seconds: Double) -> [Float] {
    var sound = TestVoices.noise(seconds: seconds, sampleRate: sampleRate, level: -20)
    for frame in sound.indices where frame / 1600 % 3 != 0 { sound[frame] = 0 }
    return sound
  }

  @Test(arguments: combinations)
  func `the output is late by the stated delay`(settings: CleaningSettings) throws {
    let sound = bursts(seconds: 2)
    let played = TestVoices.noise(seconds: 2, sampleRate: sampleRate, level: -30, seed: 9)
    let run = try CleaningRun(
      settings, sound, played: settings.echo == nil ? nil : played, sampleRate: sampleRate)
    let block = 256
    // Blocks are collected before the first stage, and each stage adds one block of delay.
    let stages = [
      settings.echo != nil, settings.denoise, settings.dereverb, settings.automaticGain,
    ].count { $0 }
    #expect(run.delayFrames == (stages == 0 ? 0 : stages + 1) * block)
    var best = (lag: 0, sum: -Float.infinity)
    for lag in max(0, run.delayFrames - 20)...run.delayFrames + 20 {
      var sum: Float = 0
      for frame in 14000..<22000 { sum += sound[frame] * run.output[frame + lag] }
      if sum > best.sum { best = (lag, sum) }
    }
    #expect(best.lag == run.delayFrames)
  }

  @Test(arguments: combinations)
  func `the output of silence is silence`(settings: CleaningSettings) throws {
    let silence = [Float](repeating: 0, count: 2 * sampleRate)
    let run = try CleaningRun(settings, silence, played: silence, sampleRate: sampleRate)
    #expect(run.peak == 0)
  }

  @Test(arguments: combinations)
  func `NaN and infinite samples are treated as silence and do not affect later samples`(
    settings: CleaningSettings
  ) throws {
    var whole = bursts(seconds: 1)
    var played = TestVoices.noise(seconds: 1, sampleRate: sampleRate, level: -30)
    var (broken, brokenPlayed) = (whole, played)
    for (frame, value) in [(999, Float.nan), (1000, .infinity), (5000, -.infinity)] {
      whole[frame] = 0
      played[frame] = 0
      broken[frame] = value
      brokenPlayed[frame] = value
    }
    let expected = try CleaningRun(settings, whole, played: played, sampleRate: sampleRate)
    let found = try CleaningRun(settings, broken, played: brokenPlayed, sampleRate: sampleRate)
    let isEqual = expected.output == found.output
    #expect(isEqual)
  }

  @Test(arguments: combinations)
  func `the number of frames per call does not change the output`(settings: CleaningSettings) throws
  {
    let sound = bursts(seconds: 1)
    let played = TestVoices.noise(seconds: 1, sampleRate: sampleRate, level: -30)
    let runs = try [1, 100, 256, 10_000].map {
      try CleaningRun(settings, sound, played: played, sampleRate: sampleRate, piece: $0).output
    }
    let areEqual = runs.allSatisfy { $0 == runs[0] }
    #expect(areEqual)
  }

  @Test(arguments: combinations)
  func `each channel is cleaned independently`(settings: CleaningSettings) throws {
    let sound = bursts(seconds: 1)
    let played = TestVoices.noise(seconds: 1, sampleRate: sampleRate, level: -30)
    let alone = try CleaningRun(settings, sound, played: played, sampleRate: sampleRate)
    var cleaner = try VoiceCleaner(settings, sampleRate: sampleRate, channelCount: 3)
    var buffer = SampleBuffer(frameCount: sound.count, channelCount: 3)
    var playedBuffer = SampleBuffer(frameCount: sound.count, channelCount: 1)
    for frame in sound.indices {
      buffer[frame * 3 + 1] = sound[frame]
      buffer[frame * 3 + 2] = -sound[frame]
      playedBuffer[frame] = played[frame]
    }
    cleaner.clean(&buffer, played: playedBuffer, frames: sound.count)
    var isSilent = true
    var isEqual = true
    for frame in sound.indices {
      isSilent = isSilent && buffer[frame * 3] == 0
      isEqual = isEqual && buffer[frame * 3 + 1] == alone.output[frame]
    }
    #expect(isSilent && isEqual)
  }

  @Test func `empty settings change nothing at any rate`() throws {
    let sound: [Float] = [1, -1, 3, .infinity]
    let run = try CleaningRun(.none, sound, sampleRate: 384_000)
    #expect(run.output == sound && run.delayFrames == 0)
  }

  @Test func `a tone is preserved while nothing is played`() throws {
    // A sine is preserved except for its phase, because the canceller removes DC offsets.
    let turn = { (frame: Int) in 2 * Double.pi * 0.05125 * Double(frame) }
    let tone = (0..<sampleRate).map { Float(0.5 * sin(turn($0))) }
    let settings = CleaningSettings(echo: EchoSettings(delayFrames: 0))
    let run = try CleaningRun(settings, tone, sampleRate: sampleRate)
    let last = (8000..<16000).map { (turn($0), Double(run.output[$0])) }
    let sine = last.reduce(0) { $0 + $1.1 * sin($1.0) } / 4000
    let cosine = last.reduce(0) { $0 + $1.1 * cos($1.0) } / 4000
    let rest = last.reduce(0) {
      let error = $1.1 - sine * sin($1.0) - cosine * cos($1.0)
      return $0 + error * error
    }
    #expect(abs(hypot(sine, cosine) - 0.5) < 0.01)
    #expect(10 * log10(rest / 8000) < -60)
  }
}

import AudioBasics
import Glibc
import Testing
import VoiceCleaning

@Suite(.enabled(if: TestVoices.canSpeak)) struct EchoTests {
  /// Returns the echo of `played` in a room: 1,000 frames late, with a decay of 60 dB within 60 ms.
  private func echo(of played: [Float], sampleRate: Int) -> [Float] {
    let length = Int(clamping: 0.06 * Double(sampleRate))
    // The number of reflections is small to save time.
    let random = TestVoices.noise(seconds: 1, sampleRate: 1000, level: -10, seed: 5)
    var taps: [(delay: Int, gain: Float)] = [(1000, 0.5)]
    for index in 1..<60 {
      let delay = length * index / 60 + Int(clamping: abs(random[index]) * 20)
      let gain = random[100 + index] * Float(pow(10, -3 * Double(delay) / Double(length)))
      taps.append((1000 + delay, gain))
    }
    var echo = [Float](repeating: 0, count: played.count)
    for (delay, gain) in taps {
      for frame in delay..<played.count { echo[frame] += gain * played[frame - delay] }
    }
    return echo
  }

  @Test(arguments: [22050, 48000])
  func `the echo of the played sound is removed and a simultaneous voice is kept`(
    sampleRate: Int
  ) throws {
    let far = TestVoices.speech(0, seconds: 20, sampleRate: sampleRate, level: -20)
    let echo = echo(of: far, sampleRate: sampleRate)
    var near = TestVoices.speech(1, seconds: 20, sampleRate: sampleRate, level: -25)
    // Both voices speak from the tenth second on.
    for frame in 0..<10 * sampleRate { near[frame] = 0 }
    let settings = CleaningSettings(echo: EchoSettings(delayFrames: 1000))
    let run = try CleaningRun(
      settings, zip(echo, near).map { $0 + $1 }, played: far, sampleRate: sampleRate)

    let alone = TestVoices.sounding(Array(echo[..<(10 * sampleRate - 4096)]))
    let before = TestVoices.level(echo, in: alone, from: 5 * sampleRate)
    let left = TestVoices.level(
      run.output, in: alone, from: 5 * sampleRate, delay: run.delayFrames)
    #expect(before - left > 20)

    let voice = TestVoices.sounding(near)
    let original = TestVoices.level(near, in: voice)
    let kept = TestVoices.level(run.output, in: voice, delay: run.delayFrames)
    #expect(abs(kept - original) < 3)
    let pauses = zip(TestVoices.pauses(near), TestVoices.sounding(echo)).enumerated().map {
      $0 * TestVoices.stretch > 10 * sampleRate && $1.0 && $1.1
    }
    let echoLevel = TestVoices.level(echo, in: pauses)
    let echoLeft = TestVoices.level(run.output, in: pauses, delay: run.delayFrames)
    #expect(echoLevel - echoLeft > 15)
  }

  /// The distortion of a loudspeaker.
  enum Loudspeaker: Sendable, CaseIterable {
    case clipping, saturating

    func play(_ sound: [Float]) -> [Float] {
      let limit = 0.3 * sound.reduce(0) { max($0, abs($1)) }
      return sound.map {
        switch self {
        case .clipping: max(-limit, min(limit, $0))
        case .saturating: limit * tanh(1.5 * $0 / limit)
        }
      }
    }
  }

  @Test(arguments: Loudspeaker.allCases, [16000, 48000])
  func
    `the echo of a loudspeaker that is too loud is taken out, and a voice at the same time is kept`(
      loudspeaker: Loudspeaker, sampleRate: Int
    ) throws
  {
    let far = TestVoices.speech(0, seconds: 20, sampleRate: sampleRate, level: -20)
    let echo = echo(of: loudspeaker.play(far), sampleRate: sampleRate)
    var near = TestVoices.speech(1, seconds: 20, sampleRate: sampleRate, level: -25)
    // Both voices speak from the tenth second on.
    let begin = 10 * sampleRate
    for frame in 0..<begin { near[frame] = 0 }
    let settings = CleaningSettings(echo: EchoSettings(delayFrames: 1000))
    let run = try CleaningRun(
      settings, zip(echo, near).map { $0 + $1 }, played: far, sampleRate: sampleRate)

    let alone = TestVoices.sounding(Array(echo[..<(begin - 4096)]))
    let before = TestVoices.level(echo, in: alone, from: 5 * sampleRate)
    let left = TestVoices.level(
      run.output, in: alone, from: 5 * sampleRate, delay: run.delayFrames)
    #expect(before - left > 20)
    let kept = TestVoices.scaleInvariantRatio(
      run.output, to: near, from: begin, delay: run.delayFrames)
    #expect(kept > 13.5)
  }

  @Test(arguments: [(0, 48000), (1, 48000), (0, 16000), (1, 16000), (0, 8000)])
  func `a voice is preserved while nothing is played`(voice: Int, sampleRate: Int) throws {
    let near = TestVoices.speech(voice, seconds: 8, sampleRate: sampleRate, level: -20)
    let run = try CleaningRun(
      CleaningSettings(echo: EchoSettings(delayFrames: 1000)), near, sampleRate: sampleRate)
    let kept = TestVoices.scaleInvariantRatio(run.output, to: near, delay: run.delayFrames)
    #expect(kept > 14.5)
  }

  @Test(arguments: [16000, 48000])
  func `noise as loud as speech is reduced with echo cancellation as well`(
    sampleRate: Int
  ) throws {
    let far = TestVoices.speech(0, seconds: 20, sampleRate: sampleRate, level: -20)
    let near = TestVoices.speech(1, seconds: 20, sampleRate: sampleRate, level: -20)
    let noise = TestVoices.noise(seconds: 20, sampleRate: sampleRate, level: -20)
    let noisy = zip(near, noise).map { $0 + $1 }
    let echo = echo(of: far, sampleRate: sampleRate)
    let settings = CleaningSettings(denoise: true, echo: EchoSettings(delayFrames: 1000))
    let first = 8 * sampleRate
    let before = TestVoices.scaleInvariantRatio(noisy, to: near, from: first)
    // The loudspeaker is not audible, or its echo is as loud as the speech and the noise.
    let bounds = sampleRate == 48000 ? (11.5, 7.4) : (8.9, 7.7)
    for (sound, bound) in [(noisy, bounds.0), (zip(noisy, echo).map { $0 + $1 }, bounds.1)] {
      let run = try CleaningRun(settings, sound, played: far, sampleRate: sampleRate)
      let after = TestVoices.scaleInvariantRatio(
        run.output, to: near, from: first, delay: run.delayFrames)
      #expect(after - before > bound)
    }
  }

  @Test func `the echoes of two different loudspeakers are both removed`() throws {
    let sampleRate = 16000
    let (left, right) = (0, 1)
    let voices = [left, right].map {
      TestVoices.speech($0, seconds: 12, sampleRate: sampleRate, level: -20)
    }
    let echoes = [
      echo(of: voices[left], sampleRate: sampleRate),
      echo(of: voices[right].map { -$0 }, sampleRate: sampleRate * 2),
    ]
    let frames = voices[left].count
    let settings = CleaningSettings(echo: EchoSettings(delayFrames: 1000))
    var cleaner = try VoiceCleaner(settings, sampleRate: sampleRate, channelCount: 1)
    var input = SampleBuffer(frameCount: frames, channelCount: 1)
    var played = SampleBuffer(frameCount: frames, channelCount: 2)
    for frame in 0..<frames {
      input[frame] = echoes[left][frame] + echoes[right][frame]
      played[2 * frame] = voices[left][frame]
      played[2 * frame + 1] = voices[right][frame]
    }
    let before = (0..<frames).map { input[$0] }
    cleaner.clean(&input, played: played, frames: frames)
    let after = (0..<frames).map { input[$0] }
    let sounding = TestVoices.sounding(before)
    let removed =
      TestVoices.level(before, in: sounding, from: 6 * sampleRate)
      - TestVoices.level(after, in: sounding, from: 6 * sampleRate, delay: cleaner.delayFrames)
    #expect(removed > 15)
  }
}

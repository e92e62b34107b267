import AudioBasics
import AudioSpectra
import Glibc
import Testing
import VoiceCleaning

@Suite(.enabled(if: TestVoices.canSpeak)) struct ReverberationTests {
  private let settings = CleaningSettings(dereverb: true)
  private let sampleRate = 48000

  /// A voice in a room.
  struct Scene: Sendable {
    let voice: Int
    let roomSeconds: Double
    let sampleRate: Int
  }

  /// Returns the parts after words in which the room still reverberates: the power with late
  /// reflections is more than 10 times the power of the early ones.
  private func tails(_ heard: (whole: [Float], early: [Float])) -> [Bool] {
    zip(TestVoices.powers(heard.whole), TestVoices.powers(heard.early)).map { $0 > 10 * $1 }
  }

  /// Returns the ratio of signal to error of `sound`, `delay` frames late, relative to `wanted`: in
  /// decibels, clamped to -10 to 35 and averaged over the chosen parts.
  private func segmentalRatio(
    _ sound: [Float], to wanted: [Float], in chosen: [Bool], delay: Int = 0
  ) -> Double {
    var sum = 0.0
    var count = 0
    for stretch in chosen.indices where chosen[stretch] {
      let start = stretch * TestVoices.stretch
      guard start + TestVoices.stretch + delay <= sound.count else { break }
      var (signal, error) = (Float(0), Float(1e-20))
      for frame in start..<start + TestVoices.stretch {
        let difference = sound[frame + delay] - wanted[frame]
        signal += wanted[frame] * wanted[frame]
        error += difference * difference
      }
      sum += max(-10, min(35, 10 * log10(Double(signal / error))))
      count += 1
    }
    return sum / Double(max(1, count))
  }

  @Test(arguments: [
    Scene(voice: 0, roomSeconds: 0.4, sampleRate: 48000),
    Scene(voice: 0, roomSeconds: 0.8, sampleRate: 48000),
    Scene(voice: 1, roomSeconds: 0.4, sampleRate: 48000),
    Scene(voice: 1, roomSeconds: 0.8, sampleRate: 48000),
    Scene(voice: 0, roomSeconds: 0.8, sampleRate: 16000),
    Scene(voice: 1, roomSeconds: 0.8, sampleRate: 16000),
  ])
  func `reverberation after words is reduced, and words are clearer`(scene: Scene) throws {
    let sampleRate = scene.sampleRate
    let speech = TestVoices.speech(scene.voice, seconds: 12, sampleRate: sampleRate, level: -20)
    let heard = TestRoom(seconds: scene.roomSeconds, sampleRate: sampleRate).reverberate(speech)
    let run = try CleaningRun(settings, heard.whole, sampleRate: sampleRate)
    // The room is estimated in the first seconds.
    let first = 3 * sampleRate
    let tails = tails(heard)
    let before = TestVoices.level(heard.whole, in: tails, from: first)
    let after = TestVoices.level(run.output, in: tails, from: first, delay: run.delayFrames)
    #expect(after < before - 6)
    let sounding = TestVoices.sounding(speech)
    let blurred = segmentalRatio(heard.whole, to: heard.early, in: sounding)
    let cleared = segmentalRatio(
      run.output, to: heard.early, in: sounding, delay: run.delayFrames)
    #expect(cleared > blurred)
  }

  @Test(arguments: [(0, 48000), (1, 48000), (0, 16000), (1, 16000)])
  func `reverberation of 0.6 s is reduced by at least 2 dB`(voice: Int, sampleRate: Int) throws {
    let speech = TestVoices.speech(voice, seconds: 12, sampleRate: sampleRate, level: -20)
    let heard = TestRoom(seconds: 0.6, sampleRate: sampleRate).reverberate(speech)
    let run = try CleaningRun(settings, heard.whole, sampleRate: sampleRate)
    // Relative to the early sound, and to the direct sound.
    for (wanted, bound) in [(heard.early, 2.0), (speech, 1.5)] {
      let before = TestVoices.scaleInvariantRatio(
        heard.whole, to: wanted, from: 3 * sampleRate)
      let after = TestVoices.scaleInvariantRatio(
        run.output, to: wanted, from: 3 * sampleRate, delay: run.delayFrames)
      #expect(after - before > bound)
    }
  }

  @Test(arguments: [(0, 48000), (1, 48000), (0, 16000), (1, 16000), (0, 8000)])
  func `speech without reverberation is passed unchanged`(voice: Int, sampleRate: Int) throws {
    let speech = TestVoices.speech(voice, seconds: 12, sampleRate: sampleRate, level: -20)
    let run = try CleaningRun(settings, speech, sampleRate: sampleRate)
    let sounding = TestVoices.sounding(speech)
    let before = TestVoices.level(speech, in: sounding)
    let after = TestVoices.level(run.output, in: sounding, delay: run.delayFrames)
    #expect(abs(after - before) < 1)
    let kept = segmentalRatio(run.output, to: speech, in: sounding, delay: run.delayFrames)
    #expect(kept > 15)
  }

  @Test func `the remaining reverberation has no musical noise`() throws {
    // In a room, bursts of noise of half a second leave decaying noise.
    let half = sampleRate / 2
    var bursts = TestVoices.noise(seconds: 8, sampleRate: sampleRate, level: -20)
    for frame in bursts.indices where frame / half % 2 != 0 { bursts[frame] = 0 }
    let heard = TestRoom(seconds: 0.8, sampleRate: sampleRate).reverberate(bursts).whole
    let run = try CleaningRun(settings, heard, sampleRate: sampleRate)
    let tails = stride(from: 5 * half, to: bursts.count, by: 2 * half).map { $0 + half / 4 }
    let before = unevenness(heard, after: tails)
    let after = unevenness(run.output, after: tails.map { $0 + run.delayFrames })
    #expect(after / before < 2)
  }

  /// Returns the mean square of the powers divided by the square of their mean, in spectra of 21
  /// ms, averaged over 200 ms after each of `starts`. The value is 2 for noise and increases with
  /// isolated peaks, which are audible as musical noise.
  private func unevenness(_ sound: [Float], after starts: [Int]) -> Double {
    guard let transform = FourierTransform(atLeast: 1024) else { return .nan }
    var (total, count) = (0.0, 0.0)
    for start in starts.flatMap({ stride(from: $0, to: $0 + sampleRate / 5, by: 1024) })
    where start + 1024 <= sound.count {
      let piece = (0..<1024).map { sound[start + $0] * Float(sin(.pi * Double($0) / 1024)) }
      let powers = transform.spectrum(of: piece.span)[8..<504].map { Double($0.power) }
      let sum = powers.reduce(0, +)
      total += powers.reduce(0) { $0 + $1 * $1 } * Double(powers.count) / (sum * sum)
      count += 1
    }
    return total / max(1, count)
  }

  @Test func `two channels are reduced by a common gain`() throws {
    let speech = TestVoices.speech(seconds: 3, sampleRate: sampleRate, level: -20)
    let left = TestRoom(seconds: 0.4, sampleRate: sampleRate).reverberate(speech).whole
    let right = TestVoices.noise(seconds: 3, sampleRate: sampleRate, level: -40)
    let plain = try clean(left, right)
    // Rotated by 45 degrees, both channels contain both sounds. With a common gain the output is
    // rotated as well.
    let turn = Float(0.5).squareRoot()
    let turned = try clean(
      zip(left, right).map { ($0 + $1) * turn }, zip(left, right).map { ($0 - $1) * turn })
    let error = left.indices.reduce(Float(0)) {
      max($0, abs((turned[2 * $1] + turned[2 * $1 + 1]) * turn - plain[2 * $1]))
    }
    #expect(error < 1e-4)
  }

  private func clean(_ left: [Float], _ right: [Float]) throws -> [Float] {
    var cleaner = try VoiceCleaner(settings, sampleRate: sampleRate, channelCount: 2)
    var buffer = SampleBuffer(frameCount: left.count, channelCount: 2)
    for frame in left.indices {
      buffer[2 * frame] = left[frame]
      buffer[2 * frame + 1] = right[frame]
    }
    cleaner.clean(&buffer, frames: left.count)
    return (0..<buffer.sampleCount).map { buffer[$0] }
  }

  @Test func `a sample of extreme magnitude does not affect later sound`() throws {
    var sound = TestVoices.speech(seconds: 4, sampleRate: sampleRate, level: -20)
    let plain = try CleaningRun(settings, sound, sampleRate: sampleRate)
    sound[1000] = .greatestFiniteMagnitude
    let run = try CleaningRun(settings, sound, sampleRate: sampleRate)
    let sounding = TestVoices.sounding(sound.map { abs($0) > 1 ? 0 : $0 })
    let expected = TestVoices.level(plain.output, in: sounding, from: 3 * sampleRate)
    let found = TestVoices.level(run.output, in: sounding, from: 3 * sampleRate)
    #expect(abs(found - expected) < 1)
  }
}

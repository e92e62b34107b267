import Glibc

/// Phrases of synthetic vowels between pauses, and other synthetic sounds, which need no speech
/// program.
struct SyntheticSpeech {
  static let sampleRate = 8000
  private(set) var phrases: [Range<Int>] = []
  private(set) var samples: [Float] = []

  /// Creates `count` phrases of five syllables, with noise `snr` decibels below the syllables.
  init(_ count: Int, noise colour: TestNoise.Colour, snr: Float) {
    let rate = Self.sampleRate
    var noise = TestNoise(colour, sampleRate: rate)
    let gain = 0.05 * powf(10, -snr / 20)
    let pause = rate * 5 / 2
    samples = (0..<count * (pause + rate) + pause).map { _ in noise.next() * gain }
    for index in 0..<count {
      let first = pause + index * (pause + rate)
      phrases.append(first..<first + rate)
      for syllable in 0..<5 {
        let vowel = Self.vowel(
          pitch: 105 + Float(17 * ((index * 5 + syllable) % 6)), (index + syllable) % 3)
        for (offset, sample) in vowel.enumerated() {
          samples[first + syllable * rate / 5 + offset] += 0.05 * sample
        }
      }
    }
  }

  /// Creates `count` words of 0.34 s between pauses, each of two syllables with a stop between
  /// them. The syllables are 10 dB above `around`, which is repeated.
  init(words count: Int, over around: [Float]) {
    let rate = Self.sampleRate
    let pause = rate * 5 / 2
    let power = around.reduce(0) { $0 + $1 * $1 } / Float(around.count)
    let level = 3.162 * power.squareRoot()
    samples = (0..<count * pause + pause).map { around[$0 % around.count] }
    for index in 0..<count {
      let first = pause + index * pause
      phrases.append(first..<first + rate * 34 / 100)
      let pitch = 110 + Float(19 * (index % 6))
      for (place, milliseconds) in [(0, 140), (220, 120)] {
        let vowel = Self.vowel(pitch: pitch, (index + place) % 3, milliseconds: milliseconds)
        for (offset, sample) in vowel.enumerated() {
          samples[first + rate * place / 1000 + offset] += level * sample
        }
      }
    }
  }

  /// Adds `sound`, which must be at least as long.
  mutating func add(_ sound: [Float]) {
    for frame in samples.indices { samples[frame] += sound[frame] }
  }

  /// Returns ten voices without long pauses, with an RMS of about 0.1.
  static func babble(seconds: Int) -> [Float] {
    let vowels = (0..<24).map { vowel(pitch: 90 + Float($0) * 7, $0 % 3) }
    var sound = [Float](repeating: 0, count: seconds * sampleRate)
    var seed: UInt32 = 7
    func chance(_ count: Int) -> Int {
      seed = seed &* 1_664_525 &+ 1_013_904_223
      return Int(seed >> 16) % count
    }
    for voice in 0..<10 {
      let level = 0.03 + 0.004 * Float(voice)
      var frame = chance(1600)
      while frame + 1440 < sound.count {
        for (offset, sample) in vowels[(chance(6) + 3 * voice) % 24].enumerated() {
          sound[frame + offset] += level * sample
        }
        frame += 1440 + chance(chance(5) == 0 ? 4000 : 800)
      }
    }
    return sound
  }

  /// Returns `seconds` of eight keystrokes per second: bursts of 8 ms, each followed by a fainter
  /// one when the key is released.
  static func keys(seconds: Int) -> [Float] {
    var noise = TestNoise(.white, sampleRate: sampleRate)
    return (0..<seconds * sampleRate).map { frame in
      let place = frame % 1000
      let level: Float = place < 64 ? 0.09 : (500..<564).contains(place) ? 0.03 : 0
      return level * noise.next()
    }
  }

  /// Returns a vowel with an RMS of 1: harmonics of a falling pitch with two formants.
  private static func vowel(pitch: Float, _ kind: Int, milliseconds: Int = 180) -> [Float] {
    let formants: [(Float, Float)] = [(700, 1200), (350, 2100), (480, 900)]
    let (first, second) = formants[kind]
    let count = sampleRate * milliseconds / 1000
    var phase: Float = 0
    let sound: [Float] = (0..<count).map { frame in
      let place = Float(frame) / Float(count)
      let frequency = pitch * (1.12 - 0.2 * place)
      phase += 2 * .pi * frequency / Float(sampleRate)
      var sum: Float = 0
      for harmonic in 1...18 where Float(harmonic) * frequency < 3400 {
        let height = Float(harmonic) * frequency
        let near =
          expf(-powf((height - first) / 130, 2)) + 0.4 * expf(-powf((height - second) / 180, 2))
        sum += (near + 0.03) * sinf(Float(harmonic) * phase)
      }
      return sum * sinf(.pi * place)
    }
    let power = sound.reduce(0) { $0 + $1 * $1 } / Float(count)
    return sound.map { $0 / power.squareRoot() }
  }

  /// Returns `seconds` of music: two chords per second of three plucked notes, with faint noise.
  static func music(seconds: Int) -> [Float] {
    let chords: [[Float]] = [
      [220, 277.2, 329.6], [185, 220, 277.2], [146.8, 185, 220], [164.8, 207.7, 246.9],
    ]
    var noise = TestNoise(.white, sampleRate: sampleRate)
    return (0..<seconds * sampleRate).map { frame in
      let time = Float(frame % (sampleRate / 2)) / Float(sampleRate)
      var sum: Float = 0
      for note in chords[frame / (sampleRate / 2) % 4] {
        for harmonic in 1...6 {
          let level = expf(-Float(harmonic) * time * 1.5) / Float(harmonic)
          sum += level * sinf(2 * .pi * note * Float(harmonic) * time)
        }
      }
      return 0.05 * sum * min(1, time * 200) + 0.0005 * noise.next()
    }
  }
}

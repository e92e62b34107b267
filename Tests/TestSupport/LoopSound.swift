import Glibc

/// Sounds that may occur in a room with a feedback loop and are not howling, although some of them
/// resemble it.
package enum LoopSound: String, CaseIterable, Sendable {
  case held, whistle, swellingWhistle, risingTone, siren, crescendo, swell, organ, tremolo, pluck
  case drums, chord, loudTone, speech, music, risingNoise

  /// Returns a random room in which the sound is played.
  package func room(_ seed: UInt64, gainDB: Double?) -> LoopRig {
    LoopRig.room(seed &* 7 &+ UInt64(rawValue.count), gainDB: gainDB)
  }

  /// Returns a random sound of this kind as a function from frame to sample. Its level is between
  /// -30 and -4 dBFS, except for a tone that overdrives the microphone.
  package func make(_ seed: UInt64, sampleRate: Int) -> (Int) -> Float {
    var chance = Chance(seed &* 31 &+ 5)
    func next(_ range: ClosedRange<Double>) -> Double {
      range.lowerBound + (range.upperBound - range.lowerBound) * (chance.next() + 1) / 2
    }
    let rate = Double(sampleRate)
    let hertz = 150 * pow(20, next(0...1))
    let level = pow(10, next(-30 ... -4) / 20)
    let shape = (next(0...1), next(0...1), next(0...1))
    var voice = SyntheticVoice(pitch: 90 + 120 * shape.0, rate: rate, chance: Chance(seed &+ 900))
    let notes = (0..<400).map { _ in 110 * pow(2, next(0...36).rounded(.down) / 12) }
    return { frame in
      let seconds = Double(frame) / rate
      func tone(_ hertz: Double) -> Double { sin(2 * .pi * hertz * seconds) }
      func wobble(_ hertz: Double, by radians: Double, at wobble: Double) -> Double {
        sin(2 * .pi * hertz * seconds + radians * tone(wobble))
      }
      func rising(by decibels: Double, from start: Double) -> Double {
        min(level, start * pow(10, decibels * seconds / 20))
      }
      let noise = voice.chance.next()
      var sound: Double
      switch self {
      case .held: sound = level * tone(hertz)
      case .whistle:
        sound =
          level * wobble(1000 + 1500 * shape.0, by: 1 + 4 * shape.1, at: 4 + 3 * shape.2)
      case .swellingWhistle:
        sound =
          rising(by: 8, from: level * 0.01) * (1 + 0.05 * shape.2 * noise)
          * wobble(800 + 1500 * shape.0, by: 0.2 + 3 * shape.1, at: 5.5)
      case .risingTone: sound = rising(by: 5 + 25 * shape.0, from: 0.001) * tone(hertz)
      case .siren: sound = level * wobble(700, by: 50 + 150 * shape.0, at: 0.3 + shape.1)
      case .crescendo: sound = min(1, seconds / (1 + 4 * shape.0)) * level * tone(hertz)
      case .swell: sound = rising(by: 6 + 40 * shape.0, from: 0.001) * tone(hertz)
      case .organ:
        let swell = (0.6 + 0.4 * tone(0.25)) * (1 + 0.2 * tone(6))
        sound = level * swell * (tone(hertz) + tone(2 * hertz) + tone(4 * hertz)) / 3
      case .tremolo: sound = level * (0.55 + 0.45 * tone(2 + 6 * shape.0)) * tone(hertz)
      case .pluck:
        sound = level * exp(-6 * (seconds * 2).truncatingRemainder(dividingBy: 1)) * tone(hertz)
      case .drums:
        sound = level * exp(-20 * (seconds * 4).truncatingRemainder(dividingBy: 1)) * noise
      case .chord: sound = level * (tone(262) + tone(330) + tone(392)) / 3
      case .loudTone: sound = 1.5 * tone(hertz)
      case .speech: sound = level * voice.next(seconds, noise)
      case .music:
        let beats = 2 + 2 * shape.0
        let beat = Int(clamping: seconds * beats)
        sound = 0
        for part in 1...3 {
          // A note of part n lasts n beats.
          let hertz = notes[(beat / part + part) % notes.count]
          let age = seconds - Double(beat / part * part) / beats
          for partial in stride(from: 1.0, through: 4, by: 1) {
            sound += exp(-2.5 * age * partial) * tone(hertz * partial) / partial
          }
        }
        sound *= level / 4
      case .risingNoise: sound = rising(by: 8, from: 0.003) * noise
      }
      return Float(sound + 0.0003 * noise)
    }
  }
}

/// Syllables of an unintelligible voice: pulses and breath noise through three resonances, which
/// differ for each syllable.
private struct SyntheticVoice {
  var chance: Chance
  private let pitch: Double
  private let rate: Double
  private var syllable = -1
  private var hertz = 120.0
  private var isHeard = false
  private var resonances: [(hertz: Double, last: Double, before: Double)] = []
  private var phase = 0.0

  init(pitch: Double, rate: Double, chance: Chance) {
    (self.pitch, self.rate, self.chance) = (pitch, rate, chance)
  }

  mutating func next(_ seconds: Double, _ noise: Double) -> Double {
    let time = seconds * 4.2
    if Int(clamping: time) != syllable { begin(Int(clamping: time)) }
    let place = time - Double(syllable)
    phase += hertz * (1 + 0.1 * sin(2 * .pi * place)) / rate
    var source = 0.02 * noise
    if phase >= 1 {
      phase -= 1
      source += 1
    }
    guard isHeard else { return 0 }
    let radius = exp(-.pi * 90 / rate)
    var sum = 0.0
    for index in resonances.indices {
      let turn = 2 * radius * cos(2 * .pi * resonances[index].hertz / rate)
      let (last, before) = (resonances[index].last, resonances[index].before)
      let value = source + turn * last - radius * radius * before
      (resonances[index].last, resonances[index].before) = (value, last)
      sum += value * (1 - radius)
    }
    return 12 * sin(.pi * place) * sum
  }

  private mutating func begin(_ number: Int) {
    syllable = number
    hertz = pitch * (1 + 0.15 * chance.next())
    isHeard = chance.next() > -0.4
    resonances = [(550, 250), (1600, 700), (2750, 350)].map { middle, spread in
      (middle + spread * chance.next(), 0, 0)
    }
  }
}

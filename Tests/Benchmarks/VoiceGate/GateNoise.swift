import AudioBasics
import Glibc
import TestSupport

/// The background noise of a trial of the voice gate.
enum GateNoise: String, CaseIterable {
  case white, pink, fan, keyboard, rain, babble, music

  /// Returns `frames` frames of the noise with an RMS of 1.
  func samples(
    frames: Int, sampleRate: Int, material: SpokenMaterial, random: inout SplitMix64
  ) throws -> [Float] {
    switch self {
    case .white: (0..<frames).map { _ in Float(random.normal()) }
    case .pink: Self.pink(frames, random: &random).normalised()
    case .fan: Self.fan(frames, Double(sampleRate), random: &random).normalised()
    case .keyboard: Self.keyboard(frames, Double(sampleRate), random: &random).normalised()
    case .rain: Self.rain(frames, Double(sampleRate), random: &random).normalised()
    case .babble:
      try Self.babble(frames, sampleRate, material, random: &random).normalised()
    case .music: Self.music(frames, Double(sampleRate), random: &random).normalised()
    }
  }

  private static func pink(_ frames: Int, random: inout SplitMix64) -> [Float] {
    var filter = PinkFilter()
    return (0..<frames).map { _ in Float(filter.next(random.normal())) }
  }

  /// Returns the noise of a fan: air noise that falls by 6 dB per octave above 400 Hz, and the tone
  /// of the blades with its harmonics, slightly modulated.
  private static func fan(
    _ frames: Int, _ rate: Double, random: inout SplitMix64
  ) -> [Float] {
    let hertz = random.uniform(80...140)
    let memory = exp(-2 * .pi * 400 / rate)
    var air = 0.0
    var phase = 0.0
    return (0..<frames).map { frame in
      air = memory * air + (1 - memory) * random.normal()
      let sway = sin(2 * .pi * 0.3 * Double(frame) / rate)
      phase += hertz * (1 + 0.002 * sway) / rate
      var tones = 0.0
      for harmonic in stride(from: 1.0, through: 5, by: 1) {
        tones += sin(2 * .pi * harmonic * phase) / harmonic
      }
      return Float(air + 0.05 * (1 + 0.2 * sway) * tones)
    }
  }

  /// Returns keystrokes at random intervals in a room whose noise is 35 dB below a stroke. Each
  /// stroke is the click of a key press and the fainter click of its release.
  private static func keyboard(
    _ frames: Int, _ rate: Double, random: inout SplitMix64
  ) -> [Float] {
    var sound: [Float] = pink(frames, random: &random).map { 0.01 * $0 }
    var seconds = 0.1
    while seconds * rate < Double(frames) {
      let level = 0.6 * exp(0.3 * random.normal())
      click(at: seconds, level: level, in: &sound, rate, random: &random)
      let hold = random.uniform(0.06...0.12)
      click(at: seconds + hold, level: 0.4 * level, in: &sound, rate, random: &random)
      // Some words are followed by a longer pause.
      seconds += random.uniform(0...1) < 0.08 ? random.uniform(0.5...2) : random.uniform(0.08...0.3)
    }
    return sound
  }

  /// Adds a noise burst of 5 to 12 ms with a resonance of the keyboard's case.
  private static func click(
    at seconds: Double, level: Double, in sound: inout [Float], _ rate: Double,
    random: inout SplitMix64
  ) {
    let first = Int(clamping: seconds * rate)
    let decay = random.uniform(0.002...0.005)
    let hertz = random.uniform(300...900)
    let end = max(first, min(sound.count, first + Int(clamping: 6 * decay * rate)))
    for frame in first..<end {
      let age = Double(frame - first) / rate
      let body = 0.6 * sin(2 * .pi * hertz * age) + random.normal()
      sound[frame] += Float(level * exp(-age / decay) * body)
    }
  }

  /// Returns the noise of rain: noise that varies by 2 dB, and eight nearby drops per second that
  /// are up to 20 dB louder for a few milliseconds.
  private static func rain(
    _ frames: Int, _ rate: Double, random: inout SplitMix64
  ) -> [Float] {
    var sound = pink(frames, random: &random)
    for frame in sound.indices {
      let seconds = Double(frame) / rate
      let swell = pow(10, sin(2 * .pi * 0.11 * seconds) / 10)
      sound[frame] = Float(swell * (0.5 * Double(sound[frame]) + 0.5 * random.normal()))
    }
    var seconds = 0.0
    while seconds * rate < Double(frames) {
      let level = pow(10, random.uniform(0...1))
      click(at: seconds, level: level, in: &sound, rate, random: &random)
      seconds += -log(max(1e-9, random.uniform(0...1))) / 8
    }
    return sound
  }

  /// Returns eight to twelve voices that read other texts, each from a random start and at a random
  /// level. Their levels differ by at most 6 dB.
  private static func babble(
    _ frames: Int, _ sampleRate: Int, _ material: SpokenMaterial, random: inout SplitMix64
  ) throws -> [Float] {
    var sound = [Float](repeating: 0, count: frames)
    let voices = material.babble.shuffled(using: &random)
    for (voice, text) in voices.prefix(Int(clamping: random.uniform(8...12.99))) {
      let phrase = SpokenPhrase(
        text: text, voice: voice, wordsPerMinute: Int(clamping: random.uniform(150...190)),
        pitch: Int(clamping: random.uniform(35...60)))
      let speech = try phrase.samples(sampleRate: sampleRate)
      guard !speech.isEmpty else { continue }
      let level = pow(10, random.uniform(-3...3) / 20)
      let gain = Float(level) / speech.activeLevel(sampleRate: sampleRate)
      let offset = Int(clamping: random.uniform(0...Double(speech.count - 1)))
      for frame in sound.indices { sound[frame] += gain * speech[(frame + offset) % speech.count] }
    }
    return sound
  }

  /// Returns the music of a band: chords of plucked strings, a bass, a melody with vibrato, and
  /// drums from the fifth bar on in alternate groups of eight bars.
  private static func music(
    _ frames: Int, _ rate: Double, random: inout SplitMix64
  ) -> [Float] {
    var sound = [Float](repeating: 0, count: frames)
    let beat = random.uniform(0.42...0.65)
    let key = 110 * pow(2, random.uniform(0...11).rounded(.down) / 12)
    let scale = [0.0, 2, 4, 5, 7, 9, 11, 12]
    let roots = [0.0, 5, 9, 7]
    var number = 0
    while Double(number) * beat * rate < Double(frames) {
      let seconds = Double(number) * beat
      let root = roots[number / 4 % roots.count]
      let third = root == 9 ? 3.0 : 4
      func note(_ semitones: Double, _ length: Double, _ level: Double, vibrato: Double = 0) {
        let tone = MusicalTone(
          hertz: key * pow(2, semitones / 12), seconds: length, level: level, vibrato: vibrato)
        tone.add(to: &sound, at: seconds, rate)
      }
      note(root - 12, beat, 0.5)
      if number % 2 == 0 {
        for interval in [0, third, 7] { note(root + 12 + interval, 2 * beat, 0.22) }
      }
      if random.uniform(0...1) < 0.7 {
        let step = Int(clamping: random.uniform(0...Double(scale.count) - 0.001))
        let length = random.uniform(0...1) < 0.5 ? beat : 2 * beat
        note(24 + scale[step], length, 0.3, vibrato: random.uniform(0...0.006))
      }
      if number / 32 % 2 == 1 || (16..<32).contains(number) {
        addDrums(number, at: seconds, beat, to: &sound, rate, random: &random)
      }
      number += 1
    }
    return sound
  }

  private static func addDrums(
    _ number: Int, at seconds: Double, _ beat: Double, to sound: inout [Float], _ rate: Double,
    random: inout SplitMix64
  ) {
    func hit(_ seconds: Double, _ level: Double, _ decay: Double, tone: Double, _ share: Double) {
      let first = Int(clamping: seconds * rate)
      var last = 0.0
      for frame in first..<max(first, min(sound.count, first + Int(clamping: 6 * decay * rate))) {
        let age = Double(frame - first) / rate
        let white = random.normal()
        // Noise with more treble than white noise: the difference of successive samples.
        let noise = white - last
        last = white
        let body = (1 - share) * sin(2 * .pi * tone * age) + 0.4 * share * noise
        sound[frame] += Float(level * exp(-age / decay) * body)
      }
    }
    if number % 2 == 0 {
      hit(seconds, 0.9, 0.06, tone: 60, 0.05)
    } else {
      hit(seconds, 0.5, 0.05, tone: 190, 0.7)
    }
    for half in [0, 0.5] { hit(seconds + half * beat, 0.15, 0.02, tone: 0, 1) }
  }
}

/// A note of an instrument: decaying harmonics, of which the higher ones decay faster.
private struct MusicalTone {
  let hertz: Double
  let seconds: Double
  let level: Double
  /// The relative frequency deviation of a vibrato of 5.5 Hz. Notes with vibrato are sustained and
  /// do not decay.
  let vibrato: Double

  func add(to sound: inout [Float], at start: Double, _ rate: Double) {
    let first = Int(clamping: start * rate)
    let end = min(sound.count, first + Int(clamping: seconds * rate))
    guard first < end else { return }
    var phase = 0.0
    for frame in first..<end {
      let age = Double(frame - first) / rate
      phase += hertz * (1 + vibrato * sin(2 * .pi * 5.5 * age)) / rate
      var sum = 0.0
      for harmonic in stride(from: 1.0, through: 8, by: 1) where harmonic * hertz < 0.45 * rate {
        let decay = vibrato > 0 ? 0 : 1.2 * harmonic * age
        sum += exp(-decay) * sin(2 * .pi * harmonic * phase) / harmonic
      }
      let edges = min(1, age * 150) * min(1, (seconds - age) * 60)
      sound[frame] += Float(level * edges * sum)
    }
  }
}

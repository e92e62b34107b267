import AudioBasics
import AudioSessions
import Glibc
import Testing

@Suite struct FeedbackGuardTests {
  /// Noise at -70 dBFS, and every other time a word besides.
  private func quietRoom(_ seed: UInt64, rate: Double, hasWord: Bool) -> (Int) -> Float {
    var chance = Chance(seed)
    return { frame in
      let seconds = Double(frame) / rate
      var sound = chance.next() * 0.0005
      if hasWord && seconds > 0.2 && seconds < 0.5 {
        let swell = sin(.pi * (seconds - 0.2) / 0.3)
        sound += 0.1 * swell * sin(2 * .pi * 140 * seconds) * (1 + chance.next() * 0.5)
      }
      return Float(sound)
    }
  }

  /// A resonance between 100 Hz and 6.4 kHz, sharp or broad, or a room that has none.
  private func room(_ seed: UInt64, gainDB: Double) -> LoopRig {
    var chance = Chance(seed &+ 77)
    var rig = LoopRig()
    rig.gainDB = gainDB
    rig.quality = [10, 3, nil][Int(seed) % 3]
    rig.frequency = 100 * pow(64, (chance.next() + 1) / 2)
    rig.delaySeconds = 0.002 + 0.058 * (chance.next() + 1) / 2
    return rig
  }

  @Test(arguments: [0.5, 1, 2, 3, 6, 9, 12])
  func `a howl is ducked, and nothing ever goes above the limit`(gain: Double) {
    for seed in 1...6 as ClosedRange<UInt64> {
      let rig = room(seed, gainDB: gain)
      let seconds = gain < 1 ? 14.0 : gain < 3 ? 6 : 4
      let result = rig.run(
        seconds: seconds,
        sound: quietRoom(seed, rate: Double(rig.sampleRate), hasWord: seed.isMultiple(of: 2)))
      #expect(result.highest <= 0.891)
      #expect(!result.ducks.isEmpty, "\(rig)")
      #expect(result.painSeconds <= 0.5, "\(rig) hurts for \(result.painSeconds) s")
    }
  }

  @Test(arguments: [-3.0, -6, -12])
  func `a loop that dies away by itself is left alone`(gain: Double) {
    for seed in 1...3 as ClosedRange<UInt64> {
      let rig = room(seed, gainDB: gain)
      let result = rig.run(
        seconds: 3, sound: quietRoom(seed, rate: Double(rig.sampleRate), hasWord: true))
      #expect(result.ducks.isEmpty, "\(rig)")
    }
  }

  /// Sounds that resemble a howl, with no loop: amplitude and phase in cycles at a time in seconds.
  enum Sound: String, CaseIterable {
    case held, whistle, siren, crescendo, exponentialSwell, organ, tremolo, pluck, drums, chord
    case loudTone

    func sample(_ t: Double, _ chance: inout Chance) -> Double {
      func tone(_ hertz: Double) -> Double { sin(2 * .pi * hertz * t) }
      switch self {
      case .held: return 0.3 * tone(440)
      case .loudTone: return 1.5 * tone(1000)
      case .whistle: return 0.3 * sin(2 * .pi * 1700 * t + 3 * sin(2 * .pi * 5.5 * t))
      case .siren: return 0.5 * sin(2 * .pi * 700 * t + 150 * sin(2 * .pi * 0.7 * t))
      case .crescendo: return min(1, t / 3) * 0.8 * tone(330)
      // As a loop would grow: 30 dB a second, up to a limit and there it stands.
      case .exponentialSwell: return min(0.7, 0.001 * pow(10, 1.5 * t)) * tone(880)
      case .organ:
        let swell = 0.2 + 0.15 * sin(2 * .pi * 0.25 * t)
        return swell * (1 + 0.2 * sin(2 * .pi * 6 * t)) * (tone(196) + tone(392) + tone(784)) / 2
      case .tremolo: return 0.4 * (0.55 + 0.45 * sin(2 * .pi * 5 * t)) * tone(520)
      case .pluck: return 0.7 * exp(-6 * (t * 2).truncatingRemainder(dividingBy: 1)) * tone(262)
      case .drums: return exp(-20 * (t * 4).truncatingRemainder(dividingBy: 1)) * chance.next()
      case .chord: return 0.2 * (tone(262) + tone(330) + tone(392))
      }
    }
  }

  @Test(arguments: Sound.allCases)
  func `what sounds like a howl and is none is left alone`(sound: Sound) {
    var chance = Chance(5)
    let rig = LoopRig()
    let result = rig.run(seconds: 4) { frame in
      Float(sound.sample(Double(frame) / Double(rig.sampleRate), &chance))
    }
    #expect(result.ducks.isEmpty && result.highest <= 0.891)
  }
}

import AudioBasics
import AudioSessions
import Glibc
import TestSupport
import Testing

@Suite struct FeedbackSuppressorTests {
  @Test(arguments: [0.5, 1, 2, 3, 6, 9, 12])
  func `a howl is attenuated, and the output never exceeds the limit`(gain: Double) {
    for seed in 1...6 as ClosedRange<UInt64> {
      let rig = LoopRig.room(seed, gainDB: gain)
      let result = rig.run(
        seconds: gain < 1 ? 14 : gain < 3 ? 6 : 4, sound: rig.quiet(seed))
      #expect(result.highest <= 0.891)
      #expect(!result.ducks.isEmpty, "\(rig)")
      #expect(result.painSeconds <= 0.3, "\(rig) hurts for \(result.painSeconds) s")
    }
  }

  /// A room, given by its seed, in which an earlier version let a loop of this gain howl too long.
  struct Room: CustomTestStringConvertible {
    let testDescription: String
    let seed: UInt64
    let gain: Double
    var seconds = 6.0
    var sampleRate = 16000

    func run() -> LoopRig.Result {
      var rig = LoopRig.room(seed, gainDB: gain)
      rig.sampleRate = sampleRate
      return rig.run(seconds: seconds, sound: rig.quiet(seed))
    }
  }

  @Test(arguments: [
    Room(testDescription: "the first code proves only half", seed: 10, gain: 0.5),
    Room(
      testDescription: "the limiter's gain changes during the code", seed: 154, gain: 1),
    Room(
      testDescription: "the howl returns when the gain is restored", seed: 2, gain: 1, seconds: 20),
  ])
  func `a howl in a difficult case ends within 0.3 seconds`(room: Room) {
    let result = room.run()
    #expect(!result.ducks.isEmpty && result.painSeconds <= 0.3)
  }

  @Test(arguments: [
    Room(testDescription: "+0.1 dB, speech", seed: 32, gain: 0.1, seconds: 20, sampleRate: 48000),
    Room(testDescription: "+0.2 dB", seed: 53, gain: 0.2, seconds: 20, sampleRate: 48000),
    Room(testDescription: "+1 dB, speech", seed: 20, gain: 1, sampleRate: 48000),
    Room(testDescription: "+12 dB, rings for 32 ms", seed: 156, gain: 12, sampleRate: 48000),
    Room(testDescription: "+0.5 dB, rings for 22 ms", seed: 1188, gain: 0.5, sampleRate: 48000),
    Room(testDescription: "+1 dB, rings for 22 ms", seed: 1188, gain: 1, sampleRate: 48000),
    Room(
      testDescription: "+2 dB, ends under dips of 3 dB", seed: 1004, gain: 2, sampleRate: 48000),
    Room(
      testDescription: "+2 dB, a loop of 3 ms without resonance", seed: 5033, gain: 2,
      sampleRate: 48000),
    Room(
      testDescription: "+0.2 dB, a loop of 5 ms without resonance", seed: 3071, gain: 0.2,
      seconds: 30, sampleRate: 48000),
    Room(
      testDescription: "+0.5 dB, swells and fades in each round trip", seed: 27, gain: 0.5,
      seconds: 14, sampleRate: 48000),
    Room(
      testDescription: "+2 dB, was held low while it grew", seed: 5, gain: 2, sampleRate: 48000),
    Room(
      testDescription: "+3 dB, was held low while it grew", seed: 40, gain: 3, sampleRate: 48000),
    Room(
      testDescription: "+0.2 dB, beats while it returns", seed: 5050, gain: 0.2, seconds: 40,
      sampleRate: 48000),
    Room(
      testDescription: "+0.5 dB, decays with many frequencies", seed: 1193, gain: 0.5, seconds: 14,
      sampleRate: 48000),
    Room(
      testDescription: "+0.2 dB, ends in the noise when it returns", seed: 1112, gain: 0.2,
      seconds: 30, sampleRate: 48000),
  ])
  func `a howl at 48 kHz, at high frequencies or with a long resonance is attenuated`(room: Room) {
    let result = room.run()
    #expect(!result.ducks.isEmpty && result.painSeconds <= 0.3)
  }

  @Test(arguments: [9, 33, 48] as [UInt64])
  func `a slow howl is attenuated before it reaches half of full scale`(seed: UInt64) {
    let result = Room(testDescription: "slow", seed: seed, gain: 0.5, seconds: 14).run()
    let highest = result.peaks.max() ?? 1
    #expect(!result.ducks.isEmpty && highest < 0.5)
  }

  @Test(arguments: [-3.0, -6, -12])
  func `a loop below 0 dB is not attenuated`(gain: Double) {
    for seed in 1...3 as ClosedRange<UInt64> {
      let rig = LoopRig.room(seed, gainDB: gain)
      let result = rig.run(seconds: 3, sound: rig.quiet(2 * seed))
      #expect(result.ducks.isEmpty, "\(rig)")
    }
  }

  /// A sound that an earlier version mistook for a howl in a loop below 0 dB.
  struct Misjudged: CustomTestStringConvertible {
    let sound: LoopSound
    let seed: UInt64
    let gain: Double
    var sampleRate = 16000
    var testDescription: String { "\(sound) \(seed) at \(gain) dB" }
  }

  @Test(arguments: [
    Misjudged(sound: .crescendo, seed: 5, gain: -12),
    Misjudged(sound: .swell, seed: 3, gain: -12),
    Misjudged(sound: .risingTone, seed: 22, gain: -12),
    Misjudged(sound: .tremolo, seed: 7, gain: -12),
    Misjudged(sound: .swellingWhistle, seed: 14, gain: -12),
    Misjudged(sound: .crescendo, seed: 17, gain: -6),
    Misjudged(sound: .siren, seed: 22, gain: -6),
    Misjudged(sound: .swell, seed: 11, gain: -3),
    Misjudged(sound: .risingTone, seed: 16, gain: -3),
    Misjudged(sound: .speech, seed: 26, gain: -0.5),
    Misjudged(sound: .organ, seed: 15, gain: -0.5),
    Misjudged(sound: .crescendo, seed: 2, gain: -1, sampleRate: 48000),
    Misjudged(sound: .music, seed: 51, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .swell, seed: 15, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .tremolo, seed: 7, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .siren, seed: 5052, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .siren, seed: 5069, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .siren, seed: 5106, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .speech, seed: 5015, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .music, seed: 5022, gain: -0.5, sampleRate: 48000),
    Misjudged(sound: .drums, seed: 1026, gain: -0.5, sampleRate: 48000),
  ])
  func `a rising sound in a loop below 0 dB is not attenuated`(_ misjudged: Misjudged) {
    let (sound, seed) = (misjudged.sound, misjudged.seed)
    var rig = sound.room(seed, gainDB: misjudged.gain)
    rig.sampleRate = misjudged.sampleRate
    let result = rig.run(
      seconds: 2.2, sound: sound.make(seed, sampleRate: rig.sampleRate))
    #expect(result.ducks.isEmpty)
  }

  @Test(arguments: [2, 8, 26] as [UInt64])
  func `a howl that the limiter hardly attenuates is attenuated as well`(seed: UInt64) {
    // At +0.1 dB the growth is too slow to be suspected before it reaches the limit.
    let rig = LoopRig.room(seed, gainDB: 0.1)
    let result = rig.run(seconds: 8, sound: rig.quiet(seed))
    #expect(!result.ducks.isEmpty && result.painSeconds <= 0.3)
  }

  /// Sounds that resemble a howl, without a loop, as a function of the time in seconds.
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
      // The growth of a loop: 30 dB per second up to a limit, and a constant level from then on.
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
  func `a sound that resembles a howl is not attenuated`(sound: Sound) {
    var chance = Chance(5)
    let rig = LoopRig()
    let result = rig.run(seconds: 4) { frame in
      Float(sound.sample(Double(frame) / Double(rig.sampleRate), &chance))
    }
    #expect(result.ducks.isEmpty && result.highest <= 0.891)
  }
}

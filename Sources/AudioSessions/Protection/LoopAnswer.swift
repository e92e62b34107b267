// Audio thread.

import AudioBasics
import RealtimeAudio

/// What a code says of a loop that takes so long.
struct LoopAnswer: BitwiseCopyable {
  /// Half hops it takes for what is played to come back.
  var lag: Int
  /// How much of the code it was found in: 0 half, 1 most, 2 all.
  var stage: Int
  /// How many codes it was found in.
  var codes: Int
  /// The share of the level's changes that the loop accounts for (the coefficient of determination): 1 is all.
  var share: Float
  /// What the loop leaves unexplained, as a share of what is left where the code is thought away: below 1 the code came
  /// back. What only repeats itself is not explained better by the code.
  var doubt: Float
  /// What the loop leaves unexplained, as a share of what may be: twice as much as before the code, and 2 %.
  var misfit: Float
  /// The share of the microphone's level that comes through the loop, in dB: 0 is all of it.
  var part: Float
  /// The loop's gain in dB.
  var gain: Float

  /// Before there is any.
  static var none: LoopAnswer {
    @_noLocks get {
      LoopAnswer(
        lag: 0, stage: 0, codes: 0, share: 0, doubt: 1, misfit: 1, part: -200, gain: -200)
    }
  }

  /// By how many dB the sound changes in a trip beyond what was done to it: what the limiters take off, or its growth.
  var change: Float { @_noLocks get { gain - part } }

  /// Whether a loop that keeps a howl up could answer like that.
  private var isPlausible: Bool {
    @_noLocks get { abs(part) < 2.5 && gain > -0.3 && misfit < 1 }
  }

  /// Whether it proves a loop, in which `limited` dB are taken off by limiters.
  ///
  /// The bounds lie between what 360 loops of +0.1 to +6 dB answered, and 3,456 rooms without a loop or with one of
  /// -0.5 dB and less, in which 16 kinds of sound were played (`swift run -c release Benchmarks howls` tries others).
  @_noLocks
  func isProof(limited: Float) -> Bool {
    guard isPlausible else { return false }
    // The part of a loop in a sound from outside that stands at the limit is smaller by what is taken off.
    let isApart = limited > 2 && abs(change - limited) < 1
    switch stage {
    case 0 where isApart: return share > 0.9 && doubt < 0.15 && abs(part) < 1.5
    case 0: return share > 0.985 && doubt < 0.1 && abs(part) < 1
    case 1 where isApart: return share > 0.75 && doubt < 0.35 && abs(part) < 2
    case 1: return share > 0.975 && doubt < 0.1 && abs(part) < 1
    default:
      if codes > 1 { return doubt < 0.45 }
      return share > 0.8 && doubt < 0.35 || isApart && doubt < 0.5 && abs(part) < 1.5
    }
  }

  /// Whether the same code once more may prove what this one did not; what is loud is asked sooner.
  @_noLocks
  func isPromising(isLoud: Bool) -> Bool {
    guard isPlausible, stage == ProbeCode.stages &- 1 else { return false }
    return doubt < 0.65 || isLoud && doubt < 0.9 && share > 0.8
  }
}

/// The inner products of the levels and of what was played a lag before, without their parabolas.
struct LoopMoments: BitwiseCopyable {
  /// Inner products of the levels with themselves, of the levels with what was played, and of that with itself; and
  /// by how many dB the levels are above it on average.
  var whole: SIMD4<Float>
  /// What the code explains of the second and the third; and both again for what was played without the code.
  var parts: SIMD4<Float>

  /// Moments from the inner products with the columns of the code: those of the levels, of what was played, and of that
  /// without the code; and from the inner products of the levels with the latter two.
  @_noLocks
  init(
    level: ProbeProducts, coded: ProbeProducts, plain: ProbeProducts, product: Float,
    plainProduct: Float
  ) {
    whole = SIMD4(
      level.rest, product - (level.parabola * coded.parabola).sum(), coded.rest,
      level.mean - coded.mean)
    parts = SIMD4(
      (level.forms * coded.forms).sum(), (coded.forms * coded.forms).sum(),
      plainProduct - (level.parabola * plain.parabola).sum(), plain.rest)
  }

  /// What that many codes say; nil where nothing came back, or more than there can be.
  @_noLocks
  func answer(lag: Int, stage: Int, codes: Int, roughness: Float) -> LoopAnswer? {
    guard whole[0] > 1e-4, parts[0] > 0, parts[1] > 1e-4 else { return nil }
    let slope = parts[0] / parts[1]
    guard slope < 1.35 else { return nil }
    let rest = max(0, whole[0] - 2 * slope * whole[1] + slope * slope * whole[2])
    let isLike = parts[2] > 0 && parts[3] > 1e-4
    let other = isLike ? whole[0] - parts[2] * parts[2] / parts[3] : whole[0]
    let count = Float(codes)
    let part = RealtimeDecibels.level(ofPower: slope * slope)
    return LoopAnswer(
      lag: lag, stage: stage, codes: codes, share: 1 - rest / whole[0],
      doubt: rest / max(1e-6, other),
      misfit: rest / (2 * roughness * count + 0.02 * whole[0] + 1e-6), part: part,
      gain: part + whole[3] / count)
  }
}

// Audio thread.

import AudioBasics
import RealtimeAudio

/// The result of fitting a loop with a certain lag and resonance to a code that came back, if all
/// of the level comes through the loop.
struct LoopAnswer: BitwiseCopyable {
  /// Half hops it takes for what is played to come back.
  var lag: Int
  /// How much of the code it was found in: 0 half, 1 most, 2 all.
  var stage: Int
  /// How many codes it was found in.
  var codes: Int
  /// The share of the level's changes that the loop accounts for (the coefficient of
  /// determination): 1 is all.
  var share: Float
  /// What the loop leaves unexplained, as a share of what is left where the code is thought away:
  /// below 1 the code came back. What only repeats itself is not explained better by the code.
  var residualRatio: Float
  /// What the loop leaves unexplained, as a share of what may be: twice as much as before the code,
  /// and 2 %.
  var misfit: Float
  /// The share of the microphone's level that comes through the loop, as the code tells it, in dB:
  /// 0 is all of it.
  var part: Float
  /// The loop's gain in dB: by how much the sound changes in a trip beyond what was done to it, be
  /// it what the limiters take off or its growth.
  var gain: Float
  /// The loop that fits best if only a part of the level comes through it.
  var partial: PartialLoop

  /// Whole hops of a trip.
  var hops: Int { @_noLocks get { (lag &+ 1) / 2 } }

  /// Before there is any.
  static var none: LoopAnswer {
    @_noLocks get {
      LoopAnswer(
        lag: 0, stage: 0, codes: 0, share: -.infinity, residualRatio: 1, misfit: 1, part: -200,
        gain: -200,
        partial: .none)
    }
  }

  /// Whether a loop that keeps a howl up could answer like that. What comes from outside makes the
  /// gain seem larger, never smaller: what dies away by itself is in a loop below 0 dB.
  @_noLocks
  private func isPlausible(limited: Float) -> Bool {
    abs(part) < 2.5 && gain > -0.15 && misfit < 1 && !isBetterInPart(limited: limited)
  }

  /// Whether a loop that less than all comes through explains far more. One that rings looks like a
  /// somewhat smaller part; what stands at the limit would have to be one that is much smaller.
  @_noLocks
  private func isBetterInPart(limited: Float) -> Bool {
    partial.part < (limited > 2 ? -2.5 : -1.2) && residualRatio > 1.6 * partial.residualRatio
      || partial.gain < -0.3 && residualRatio > 8 * partial.residualRatio
  }

  /// Whether it proves a loop, in which `limited` dB are taken off by limiters.
  ///
  /// The bounds lie between what 540 loops of +0.1 to +12 dB answered, and 1,920 rooms with one of
  /// -0.5 or -1 dB, in which 16 kinds of sound were played (`swift run -c release Benchmarks howls`
  /// tries others).
  @_noLocks
  func confirmsFeedback(limited: Float) -> Bool {
    guard isPlausible(limited: limited) else { return false }
    // The part of a loop in a sound from outside that stands at the limit is smaller by what is
    // taken off.
    let isApart = limited > 2 && abs(gain - limited) < 1
    switch stage {
    case 0 where isApart: return share > 0.9 && residualRatio < 0.15 && abs(part) < 1.5
    case 0: return share > 0.985 && residualRatio < 0.1 && abs(part) < 1
    case 1 where isApart: return share > 0.78 && residualRatio < 0.26 && abs(part) < 2
    case 1: return share > 0.975 && residualRatio < 0.1 && abs(part) < 1
    case _ where isApart: return residualRatio < 0.25 && abs(part) < 1.5
    default:
      return part > -1
        && (share > 0.8 && residualRatio < 0.2 || share > 0.95 && residualRatio < 0.45)
    }
  }

  /// Whether the same code once more may prove what this one did not; what is loud is asked sooner.
  @_noLocks
  func needsRepeat(limited: Float, isLoud: Bool) -> Bool {
    guard isPlausible(limited: limited), stage == ProbeCode.stages &- 1 else { return false }
    return residualRatio < 0.65 || isLoud && residualRatio < 0.9 && share > 0.8
  }
}

/// The result of fitting a loop that only a part of the level comes through. Lag, residualRatio and
/// part are as in `LoopAnswer`.
struct PartialLoop: BitwiseCopyable {
  var lag: Int
  var residualRatio: Float
  var part: Float
  /// The loop's gain in dB: by how much its part changes in a trip.
  var gain: Float

  /// Before there is any.
  static var none: PartialLoop {
    @_noLocks get { PartialLoop(lag: 0, residualRatio: 1, part: 0, gain: 0) }
  }
}

/// The inner products of the levels and of what was played a lag before, without their parabolas.
struct LoopMoments: BitwiseCopyable {
  /// Inner products of the levels with themselves, of the levels with what was played, and of that
  /// with itself; and by how many dB the levels are above it on average.
  var whole: SIMD4<Float>
  /// What the code explains of the second and the third; and both again for what was played without
  /// the code.
  var parts: SIMD4<Float>

  /// Moments from the inner products with the columns of the code: those of the levels, of what was
  /// played, and of that without the code; and from the inner products of the levels with the
  /// latter two.
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
    let isLike = parts[2] > 0 && parts[3] > 1e-4
    let other = max(1e-6, isLike ? whole[0] - parts[2] * parts[2] / parts[3] : whole[0])
    let count = Float(codes)
    let unexplained = rest(slope: 1)
    let part = RealtimeDecibels.level(ofPower: slope * slope)
    let change = whole[3] / count
    return LoopAnswer(
      lag: lag, stage: stage, codes: codes, share: 1 - unexplained / whole[0],
      residualRatio: unexplained / other,
      misfit: unexplained / (2 * roughness * count + 0.02 * whole[0] + 1e-6), part: part,
      gain: change,
      partial: PartialLoop(
        lag: lag, residualRatio: rest(slope: slope) / other, part: part, gain: part + change))
  }

  /// What of the levels a loop leaves unexplained that brings `slope` of them.
  @_noLocks
  private func rest(slope: Float) -> Float {
    max(0, whole[0] - 2 * slope * whole[1] + slope * slope * whole[2])
  }
}

// Audio thread.

import AudioBasics
import RealtimeAudio

/// The result of fitting a loop with a certain lag and resonance to a returned code, under the
/// assumption that all of the level comes through the loop.
struct LoopFit: BitwiseCopyable {
  /// The round-trip time in half hops.
  var lag: Int
  /// The part of the code that was evaluated: 0 is half, 1 is most, 2 is all of it.
  var stage: Int
  /// The number of codes that were evaluated.
  var codes: Int
  /// The share of the level's changes that the loop accounts for (the coefficient of
  /// determination): 1 is all.
  var share: Float
  /// The residual of the loop, relative to the residual of the same fit without the code: a value
  /// below 1 means that the code returned. The code does not improve the fit to a sound that only
  /// repeats itself.
  var residualRatio: Float
  /// The residual of the loop, relative to the permitted one: twice the residual before the code,
  /// and 2 % of the level's changes.
  var misfit: Float
  /// The share of the microphone's level that comes through the loop, estimated from the code, in
  /// dB: 0 is all of it.
  var part: Float
  /// The loop gain in dB: the change of the level in a round trip, apart from the changes applied
  /// to it. It compensates the attenuation of the limiters, or shows as growth.
  var gain: Float
  /// The best fit of a loop through which only a part of the level comes.
  var partial: PartialLoopFit

  /// The round-trip time in whole hops.
  var hops: Int { @_noLocks get { (lag &+ 1) / 2 } }

  /// The round-trip time in hops. The lag found by a code is too short by about half of a half hop.
  var tripHops: Float { @_noLocks get { 0.5 * Float(lag) + 0.2 } }

  /// The value before there is a result.
  static var none: LoopFit {
    @_noLocks get {
      LoopFit(
        lag: 0, stage: 0, codes: 0, share: -.infinity, residualRatio: 1, misfit: 1, part: -200,
        gain: -200,
        partial: .none)
    }
  }

  /// Returns whether a loop that sustains a howl could give this result. External sound makes the
  /// gain seem larger, never smaller: a sound that dies away by itself is in a loop below 0 dB.
  @_noLocks
  private func isPlausible(limited: Float) -> Bool {
    // The best of the lags must be a maximum, and not only the last one that is searched.
    abs(part) < 2.5 && gain > -0.15 && misfit < 1 && lag < LoopGainEstimator.maximumLag
      && !isBetterInPart(limited: limited)
  }

  /// Returns whether a loop through which only a part of the level comes explains far more. A
  /// resonant loop seems to have a slightly smaller part; for a sound at the limit the part would
  /// have to be much smaller.
  @_noLocks
  private func isBetterInPart(limited: Float) -> Bool {
    partial.part < (limited > 2 ? -2.5 : -1.2) && residualRatio > 1.6 * partial.residualRatio
      || partial.gain < -0.3 && residualRatio > 8 * partial.residualRatio
  }

  /// Returns whether the result proves a loop, in which the limiters attenuate by `limited` dB.
  ///
  /// The bounds are between the results of 1,800 loops of +0.1 to +12 dB in 200 rooms, and those of
  /// 60 rooms with a loop of -0.5 to -12 dB, in which 16 kinds of sound were played (`swift run -c
  /// release Benchmarks howls` tests other rooms).
  @_noLocks
  func confirmsFeedback(limited: Float) -> Bool {
    guard isPlausible(limited: limited) else { return false }
    return isApart(limited: limited)
      ? confirmsLimitedHowl(limited: limited)
      : !isBetterBelowUnity && confirmsGrowth(limited: limited)
  }

  /// Returns whether even a loud sound with a proven loop must die away in a test to count as a
  /// howl: in a loop of slightly less than 0 dB a tone responds nearly like a howl.
  @_noLocks
  func needsDecay(limited: Float) -> Bool { gain < 2 && !isApart(limited: limited) }

  /// Returns whether the attenuation of the limiters distinguishes a howl from an external sound at
  /// the limit. In an external sound, the part of the loop is smaller by this attenuation. A loop
  /// loses as much to the limiters as its gain exceeds 0 dB; an external sound makes the gain seem
  /// larger than that.
  @_noLocks
  private func isApart(limited: Float) -> Bool {
    limited > (isShort ? 1.5 : 2) && gain - limited > -1 && gain - limited < 0.3
  }

  /// Whether the round trip is shorter than a chip: the dips of several round trips add up, and the
  /// sound may end before the next stage.
  private var isShort: Bool { @_noLocks get { lag <= 2 &* PerturbationCode.chipHops } }

  /// Whether a loop below 0 dB explains the result better, even if by 1 dB only.
  private var isBetterBelowUnity: Bool {
    @_noLocks get { partial.gain < -0.3 && residualRatio > 1.26 * partial.residualRatio }
  }

  /// Returns whether a sound whose level is nearly free to grow is a howl.
  @_noLocks
  private func confirmsGrowth(limited: Float) -> Bool {
    guard part > -1 && (part < 1 || stage > 1) else { return false }
    if isBalanced(limited: limited) { return true }
    switch stage {
    case 0:
      // The beginning of a word rises as steeply as a loop of several dB.
      return share > (gain > 3 ? 0.99 : 0.985) && residualRatio < 0.1 && misfit < 0.1
    case 1: return share > 0.975 && residualRatio < 0.1 && misfit < 0.1
    default:
      // An external sound leaves a residual, and makes the part of the loop smaller.
      guard misfit < 0.5 || partial.part > 0 else { return false }
      // The same result of several codes is no coincidence. In a loop that is shorter than a hop a
      // code hardly leaves a trace, as every dip remains until the end of the sound.
      if codes > 2 && misfit < 0.1 && share > 0.9 && residualRatio < 0.5 { return true }
      // A sound that only touches the limit changes as the limiters do.
      let isSteady = limited < 0.02
      return isSteady && share > 0.8 && residualRatio < 0.2 || share > 0.95 && residualRatio < 0.33
    }
  }

  /// Returns whether a sound is a howl that only just reaches the limit: the limiters take away the
  /// little that its loop gains. Its level was so constant before the code that even a small
  /// residual is a large misfit.
  @_noLocks
  private func isBalanced(limited: Float) -> Bool {
    limited > 0.02 && abs(gain - limited) < 0.3 && part > -0.2 && part < 1 && share > 0.9
      && residualRatio < 0.1
  }

  /// Returns whether a sound is a howl whose gain above 0 dB the limiters take away.
  @_noLocks
  private func confirmsLimitedHowl(limited: Float) -> Bool {
    guard limited < 13 || residualRatio < unusualLoopResidual else { return false }
    return switch stage {
    case 0: share > 0.9 && residualRatio < (isShort ? 0.15 : 0.1) && abs(part) < 1.5
    case 1: share > 0.78 && residualRatio < (isShort ? 0.26 : 0.2) && abs(part) < 2
    default: residualRatio < 0.25 && abs(part) < 1.5
    }
  }

  /// The residual ratio permitted for a sound that the limiters attenuate by 13 dB or more: few
  /// loops need that much, but a loud external sound may, such as a siren that excites one
  /// resonance of the room after another.
  private var unusualLoopResidual: Float {
    @_noLocks get { stage == 0 ? 0.02 : stage == 1 ? 0.04 : 0.12 }
  }

  /// Returns whether another code of the same kind may complete the proof; a loud sound is tested
  /// again sooner.
  @_noLocks
  func needsRepeat(limited: Float, isLoud: Bool) -> Bool {
    guard isPlausible(limited: limited), stage == PerturbationCode.stages &- 1 else { return false }
    return residualRatio < 0.65 || isLoud && residualRatio < 0.9 && share > 0.8
  }
}

/// The result of fitting a loop through which only a part of the level comes. Lag, residualRatio
/// and part are as in `LoopFit`.
struct PartialLoopFit: BitwiseCopyable {
  var lag: Int
  var residualRatio: Float
  var part: Float
  /// The loop gain in dB: the change of the loop's part of the level in a round trip.
  var gain: Float

  /// The value before there is a result.
  static var none: PartialLoopFit {
    @_noLocks get { PartialLoopFit(lag: 0, residualRatio: 1, part: 0, gain: 0) }
  }
}

/// The inner products of the levels and of the levels played one lag before, without their
/// parabolas.
struct LoopMoments: BitwiseCopyable {
  /// The inner products of the levels with themselves, of the levels with the played levels, and of
  /// the played levels with themselves; and the mean difference in dB between the levels and the
  /// played levels.
  var whole: SIMD4<Float>
  /// The parts of the second and the third product that the code explains; and the second and the
  /// third product for the levels played without the code.
  var parts: SIMD4<Float>

  /// Creates moments from the inner products with the columns of the code, for the levels, for the
  /// played levels, and for the played levels without the code; and from the inner products of the
  /// levels with the latter two.
  @_noLocks
  init(
    level: PerturbationProducts, coded: PerturbationProducts, plain: PerturbationProducts,
    product: Float,
    plainProduct: Float
  ) {
    whole = SIMD4(
      level.rest, product - (level.parabola * coded.parabola).sum(), coded.rest,
      level.mean - coded.mean)
    parts = SIMD4(
      (level.forms * coded.forms).sum(), (coded.forms * coded.forms).sum(),
      plainProduct - (level.parabola * plain.parabola).sum(), plain.rest)
  }

  /// Returns the result of `codes` codes; nil if nothing returned, or more than a loop can return.
  @_noLocks
  func fit(lag: Int, stage: Int, codes: Int, roughness: Float) -> LoopFit? {
    guard whole[0] > 1e-4, parts[0] > 0, parts[1] > 1e-4 else { return nil }
    let slope = parts[0] / parts[1]
    guard slope < 1.35 else { return nil }
    let isLike = parts[2] > 0 && parts[3] > 1e-4
    let other = max(1e-6, isLike ? whole[0] - parts[2] * parts[2] / parts[3] : whole[0])
    let count = Float(codes)
    let unexplained = rest(slope: 1)
    let part = RealtimeDecibels.level(ofPower: slope * slope)
    let change = whole[3] / count
    return LoopFit(
      lag: lag, stage: stage, codes: codes, share: 1 - unexplained / whole[0],
      residualRatio: unexplained / other,
      misfit: unexplained / (2 * roughness * count + 0.02 * whole[0] + 1e-6), part: part,
      gain: change,
      partial: PartialLoopFit(
        lag: lag, residualRatio: rest(slope: slope) / other, part: part, gain: part + change))
  }

  /// Returns the residual of the levels for a loop that returns the share `slope` of the played
  /// level.
  @_noLocks
  private func rest(slope: Float) -> Float {
    max(0, whole[0] - 2 * slope * whole[1] + slope * slope * whole[2])
  }
}

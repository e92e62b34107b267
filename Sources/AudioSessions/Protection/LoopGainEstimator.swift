// Audio thread.

import AudioBasics
import RealtimeAudio

/// The proof that the captured sound is the played sound: an estimate of the gain of the loop
/// through which a code of small dips in the output (`PerturbationCode`) returns.
///
/// The level L of a band, in dB, depends on the level played `lag` hops ago, P = L + g + c, where g
/// is the gain of the limiters and c the code, by
///
///     L(t) = k P(t - lag) + s(t),
///
/// where k is the share of the level that comes through the loop, and s is the part that changes
/// for other reasons. s is independent of the code, so k is an instrumental-variable estimate
/// (two-stage least squares; J. D. Angrist, A. B. Krueger, "Instrumental Variables and the Search
/// for Identification", 2001): L and P are compared only in the part of them that the code
/// explains, seen through a window of four hops and through resonances. The parabola that fits
/// best, which covers slow growth, slow decay and a constant level, is subtracted from both before.
/// The loop gain is then
///
///     G = 20 log10 k + mean(L(t) - P(t - lag)),
///
/// since in each round trip the loop returns the share k of a sound that changes by that mean. A
/// loop that sustains a howl has a gain of 0 dB or more and k = 1; a tone that grows by 2 dB per
/// round trip in a loop of -3 dB gives -3 dB and k = 0.56.
///
/// Of all lags and resonances, the one is selected in which k = 1 leaves the least of the level
/// unexplained. It proves a howl unless another one with k < 1 leaves far less (a likelihood ratio
/// test).
struct LoopGainEstimator: ~Copyable {
  /// Returns the gain of a dip in dB: too shallow to be audible, or deep enough for a howl of
  /// several tones.
  @_noLocks
  static func dip(isDeep: Bool) -> Float { isDeep ? -3 : -0.5 }

  /// The longest round trip, in half hops.
  static var maximumLag: Int { @_noLocks get { 56 } }
  /// The number of lags that are compared, in steps of a quarter of a hop. The level of a sound
  /// that circulates, such as a word, changes so quickly that an error of a quarter of a hop hides
  /// the code.
  private static var quarters: Int { @_noLocks get { 2 &* maximumLag } }
  /// The longest round trip in hops.
  private static var maximumHops: Int { @_noLocks get { maximumLag / 2 } }
  /// The number of hops after which the lag that explains most is accepted.
  private static var settledHops: Int { @_noLocks get { 4 } }
  /// The number of sums of a lag: those of the level, and its products with the played levels.
  private static var width: Int { @_noLocks get { 8 &+ columns } }
  /// The number of resonances that the loop may have, from none to one that rings for 23 hops.
  private static var resonances: Int { @_noLocks get { 16 } }
  /// The number of columns of played levels: after each resonance with the code, and after each
  /// without it.
  private static var columns: Int { @_noLocks get { 2 &* resonances } }
  /// The number of hops of played levels that are kept: a power of two above the longest round
  /// trip.
  private static var capacity: Int { @_noLocks get { 64 } }

  /// The number of codes whose evidence is summed.
  private(set) var codes = 0
  private let code = PerturbationCode()
  /// The inner products of the levels for each lag of whole hops, from 0 on. Those of a lag between
  /// two hops follow from both: the level between two hops is on the line between their levels.
  private var sums: SampleBuffer
  /// The inner products of the levels played since the code began, which are the same for all lags,
  /// with the columns of the code: eight for each played column.
  private var playedSums: SampleBuffer
  /// The values of these products at the end of each stage.
  private var playedProducts = InlineArray<96, PerturbationProducts>(
    repeating: PerturbationProducts())
  /// The levels played recently in dB, as a loop with each resonance returns them: with the code,
  /// and without.
  private var played: SampleBuffer
  private var states: SampleBuffer
  /// The share of a step that each resonance follows within one hop. The response to a dip that is
  /// shorter than the ringing shows only the ratio of the loop's share and the time of ringing: an
  /// error of this time by a quarter looks like an error of the share by 2 dB.
  private var shares: SampleBuffer
  private var newest = 0
  /// The evidence of the whole codes so far, for each lag and resonance.
  private var evidence: SampleBuffer
  private var isDeep = false
  /// The result that explains most so far, for each stage, and the best fit of a loop that returns
  /// only a part of the level.
  private var best = InlineArray<3, LoopFit>(repeating: .none)
  private var bestPart = InlineArray<3, PartialLoopFit>(repeating: .none)
  /// The level when the code began, to which all other levels are relative.
  private(set) var start: Float = 0
  /// The residual of the levels before the first code, without their parabola.
  private var roughness: Float = 0
  /// The number of hops since the code began.
  private(set) var age = 0

  init() {
    sums = SampleBuffer(frameCount: Self.maximumHops + 1, channelCount: Self.width)
    evidence = SampleBuffer(frameCount: (Self.quarters + 1) * Self.resonances, channelCount: 8)
    states = SampleBuffer(frameCount: Self.columns, channelCount: 1)
    let hops: InlineArray<16, Float> = [
      0, 0.6, 1, 1.4, 1.9, 2.5, 3.2, 4, 5, 6.2, 7.7, 9.6, 12, 15, 18.5, 23,
    ]
    shares = SampleBuffer(frameCount: Self.resonances, channelCount: 1)
    for resonance in hops.indices { shares[resonance] = 1 / (1 + hops[resonance]) }
    played = SampleBuffer(frameCount: Self.capacity, channelCount: Self.columns)
    playedSums = SampleBuffer(frameCount: Self.columns, channelCount: 8)
  }

  /// Begins a code with shallow or deep dips, after the latest hop of `band`. If it `continues`,
  /// the evidence of the codes before it is kept.
  @_noLocks
  mutating func begin(
    _ history: borrowing LevelHistory, band: Int, isDeep: Bool, continues: Bool
  ) {
    self.isDeep = isDeep
    start = history.level(band: band, age: 0)
    if !continues {
      codes = 0
      evidence.clear(frames: evidence.frameCount)
      roughness = code.rest(of: history, band: band)
    }
    codes &+= 1
    sums.clear(frames: sums.frameCount)
    playedSums.clear(frames: playedSums.frameCount)
    best = InlineArray(repeating: .none)
    bestPart = InlineArray(repeating: .none)
    age = 0
    var past = 2 &* Self.capacity
    let first = Self.amplitude(history.playedLevel(band: band, age: past) - start)
    var index = 0
    while index < states.sampleCount {
      states[index] = first
      index &+= 1
    }
    while past > 0 {
      past &-= 1
      // Of the earlier half only the states of the resonances matter.
      pushPlain(
        history.playedLevel(band: band, age: past) - start, isKept: past < Self.capacity)
    }
  }

  /// Whether further hops add no evidence.
  var isOver: Bool {
    @_noLocks get { age >= PerturbationCode.reach &+ Self.maximumHops }
  }

  /// Adds the latest hop of `band`, whose last four hops had `energies`, the latest first. Returns
  /// the result for the lag that explains most, once it is clear that no longer lag explains more;
  /// nil otherwise.
  @_noLocks
  mutating func listen(
    _ history: borrowing LevelHistory, band: Int, energies: SIMD4<Float>
  ) -> LoopFit? {
    let now = history.level(band: band, age: 0) - start
    let before = history.level(band: band, age: 1) - start
    push(
      history.playedLevel(band: band, age: 0) - start,
      code: code.dip(hop: age, isDeep: isDeep, energies: energies))
    if age < PerturbationCode.reach { addPlayed(hop: age) }
    // From the longest lag on: the sums of the next shorter one do not contain this hop yet.
    var hops = Self.maximumHops
    while hops >= 0 {
      let hop = age &- hops
      if hop >= 0 && hop < PerturbationCode.reach {
        add(now, after: before, playedBefore: hops, hop: hop)
        if hops > 0, let stage = PerturbationCode.stage(endingAt: hop) {
          var quarter = 3
          while quarter >= 0 {
            evaluate(stage: stage, hops: hops, quartersLess: quarter)
            quarter &-= 1
          }
        }
      }
      hops &-= 1
    }
    age &+= 1
    var found: LoopFit?
    var stage = 0
    while stage < PerturbationCode.stages {
      let hops = age &- PerturbationCode.length(stage: stage)
      let peak = best[stage].hops &+ Self.settledHops
      if best[stage].lag > 0 && hops == min(peak, Self.maximumHops) {
        found = best[stage]
        found?.partial = bestPart[stage]
      }
      stage &+= 1
    }
    return found
  }

  @_noLocks
  private static func amplitude(_ decibels: Float) -> Float {
    RealtimeMath.exp(decibels * 0.115_129_25)
  }

  /// Adds the level played in one hop before a code begins: the levels with and without it are the
  /// same. Unless it `isKept`, the next ones replace it before a code needs it.
  @_noLocks
  private mutating func pushPlain(_ level: Float, isKept: Bool) {
    newest = (newest &+ 1) & (Self.capacity &- 1)
    let amplitude = SIMD4(repeating: Self.amplitude(level))
    let offset = newest &* Self.columns
    var column = 0
    while column < Self.resonances {
      let before = states.fourSamples(at: column)
      let now = before + (amplitude - before) * shares.fourSamples(at: column)
      states.setFourSamples(now, at: column)
      states.setFourSamples(now, at: column &+ Self.resonances)
      if isKept {
        let levels = RealtimeDecibels.levels(ofPowers: now * now)
        played.setFourSamples(levels, at: offset &+ column)
        played.setFourSamples(levels, at: offset &+ column &+ Self.resonances)
      }
      column &+= 4
    }
  }

  /// Adds the level played in one hop, in which the code changes it by `code` dB.
  @_noLocks
  private mutating func push(_ level: Float, code: Float) {
    newest = (newest &+ 1) & (Self.capacity &- 1)
    let plain = Self.amplitude(level)
    let coded = code == 0 ? plain : Self.amplitude(level + code)
    let offset = newest &* Self.columns
    var column = 0
    while column < Self.columns {
      let isCoded = column < Self.resonances
      let share = shares.fourSamples(at: isCoded ? column : column &- Self.resonances)
      let before = states.fourSamples(at: column)
      let now = before + (SIMD4(repeating: isCoded ? coded : plain) - before) * share
      states.setFourSamples(now, at: column)
      played.setFourSamples(RealtimeDecibels.levels(ofPowers: now * now), at: offset &+ column)
      column &+= 4
    }
  }

  /// Adds the level played in the latest hop to its inner products with the columns of the code.
  @_noLocks
  private mutating func addPlayed(hop: Int) {
    let (parabola, forms) = code.columns(hop: hop)
    let source = newest &* Self.columns
    let stage = PerturbationCode.stage(endingAt: hop)
    var column = 0
    while column < Self.columns {
      let offset = column &* 8
      let level = played[source &+ column]
      let parabolaSums = playedSums.fourSamples(at: offset) + Self.product(parabola, level)
      let formSums = playedSums.fourSamples(at: offset &+ 4) + forms * level
      playedSums.setFourSamples(parabolaSums, at: offset)
      playedSums.setFourSamples(formSums, at: offset &+ 4)
      if let stage {
        playedProducts[stage &* Self.columns &+ column] = code.orthonormal(
          parabolaSums, formSums, stage: stage)
      }
      column &+= 1
    }
  }

  /// Adds a level, which follows the level `before`, to the inner products of a lag of `hops` hops:
  /// those with the parabola, with itself, with the forms of the code, with the level before it,
  /// and with the level played `hops` hops before.
  @_noLocks
  private mutating func add(_ level: Float, after before: Float, playedBefore hops: Int, hop: Int) {
    let columns = code.columns(hop: hop)
    var forms = columns.forms
    forms[3] = before
    let offset = hops &* Self.width
    sums.setFourSamples(
      sums.fourSamples(at: offset) + Self.product(columns.parabola, level), at: offset)
    sums.setFourSamples(sums.fourSamples(at: offset &+ 4) + forms * level, at: offset &+ 4)
    let source = ((newest &- hops) & (Self.capacity &- 1)) &* Self.columns
    var column = 0
    while column < Self.columns {
      let products = played.fourSamples(at: source &+ column) * level
      let sum = offset &+ 8 &+ column
      sums.setFourSamples(sums.fourSamples(at: sum) + products, at: sum)
      column &+= 4
    }
  }

  /// Returns a level multiplied by the columns of the parabola and by itself.
  @_noLocks @inline(__always)
  private static func product(_ parabola: SIMD4<Float>, _ level: Float) -> SIMD4<Float> {
    var columns = parabola
    columns[3] = level
    return columns * level
  }

  /// Keeps the result of a lag of `hops` hops, less a number of quarters of a hop, at the end of a
  /// stage, if it explains more than the results of the others.
  @_noLocks
  private mutating func evaluate(stage: Int, hops: Int, quartersLess: Int) {
    let lag = 4 &* hops &- quartersLess
    let fraction = 0.25 * Float(quartersLess)
    let offset = hops &* Self.width
    let shorter = offset &- Self.width
    let (parabola, parabolaBefore) = (sums.fourSamples(at: offset), sums.fourSamples(at: shorter))
    let (forms, formsBefore) = (
      sums.fourSamples(at: offset &+ 4), sums.fourSamples(at: shorter &+ 4)
    )
    var between = parabola + fraction * (parabolaBefore - parabola)
    // The square of a level on the line between two levels.
    let rest = 1 - fraction
    between[3] =
      rest * rest * parabola[3] + 2 * fraction * rest * forms[3]
      + fraction * fraction * parabolaBefore[3]
    let level = code.orthonormal(
      between, forms + fraction * (formsBefore - forms), stage: stage)
    var resonance = 0
    while resonance < Self.resonances {
      let coded = stage &* Self.columns &+ resonance
      let column = 8 &+ resonance
      var moments = LoopMoments(
        level: level, coded: playedProducts[coded],
        plain: playedProducts[coded &+ Self.resonances],
        product: product(column, at: offset, fraction),
        plainProduct: product(column &+ Self.resonances, at: offset, fraction))
      var count = 1
      if stage == PerturbationCode.stages &- 1 {
        let kept = 8 &* (lag &* Self.resonances &+ resonance)
        moments.whole += evidence.fourSamples(at: kept)
        moments.parts += evidence.fourSamples(at: kept &+ 4)
        evidence.setFourSamples(moments.whole, at: kept)
        evidence.setFourSamples(moments.parts, at: kept &+ 4)
        count = codes
      }
      if let fit = moments.fit(
        lag: (lag &+ 1) / 2, stage: stage, codes: count, roughness: roughness)
      {
        if fit.share > best[stage].share { best[stage] = fit }
        if fit.partial.residualRatio < bestPart[stage].residualRatio {
          bestPart[stage] = fit.partial
        }
      }
      resonance &+= 1
    }
  }

  /// Returns the sum `column` of a lag that is shorter by a `fraction` of a hop than that whose
  /// sums begin at `offset`.
  @_noLocks @inline(__always)
  private func product(_ column: Int, at offset: Int, _ fraction: Float) -> Float {
    let whole = sums[offset &+ column]
    return whole + fraction * (sums[offset &- Self.width &+ column] - whole)
  }
}

// Audio thread.
import AudioBasics

/// The proof that what comes in is what went out: a code of small dips in what is played, and the
/// search for it in the level of what comes back.
///
/// For one trip round a loop of gain G (in dB) that takes j hops, levels obey
///
///     L(t) = L(t - j) + g(t - j) + G + c(t - j),
///
/// c being the code and g what the limiters took off, in dB. So for each j the difference
/// u = L(t) - L(t - j) - g(t - j) is fitted to c(t - j) (`LoopCodeTable`): in a loop that keeps a
/// howl up the slope is one (or more, where several trips fit into j hops) and the fit good. A loop
/// below 0 dB that some sound outside keeps going answers with less than its gain as slope; a sound
/// without a loop with none.
struct LoopCode: ~Copyable {
  /// What a lag's sums say.
  struct Answer: BitwiseCopyable {
    /// Half hops it takes for what is played to come back.
    var lag: Int
    /// How much of the code it was found in: 0 half, 1 most, 2 all.
    var stage: Int
    /// dB that come back for each dB of the code.
    var slope: Float
    /// The share of what moves that the code accounts for: 1 is all.
    var share: Float
    /// The loop's gain in dB.
    var gain: Float
  }

  /// A dip in dB.
  static var depth: Float { @_noLocks get { -3 } }
  /// The longest trip, in half hops.
  static var longestLag: Int { @_noLocks get { 56 } }
  /// For each stage: the sum of u u, and those of u with each column of the table.
  private static var width: Int { @_noLocks get { 1 &+ LoopCodeTable.columns } }

  private let table = LoopCodeTable()
  private var sums: SampleBuffer
  /// Hops since the code began.
  private(set) var age = 0

  init() {
    sums = SampleBuffer(
      frameCount: (Self.longestLag + 1) * LoopCodeTable.stages, channelCount: Self.width)
  }

  /// Begins anew.
  @_noLocks
  mutating func begin() {
    sums.clear(frames: sums.frameCount)
    age = 0
  }

  /// Whether no further hop can tell more of trips up to that long.
  @_noLocks
  func isOver(lag: Int) -> Bool {
    age >= LoopCodeTable.reach &+ min(lag, Self.longestLag) / 2
  }

  /// Takes the latest hop of `band`. Answers with what fits best, where enough of the code has
  /// come back over some lag just now.
  @_noLocks
  mutating func listen(_ history: borrowing LevelHistory, band: Int) -> Answer? {
    let now = history.level(band: band, age: 0)
    // Half a hop ago, for the trips in between.
    let between = 0.5 * (now + history.level(band: band, age: 1))
    var best: Answer?
    var lag = 1
    while lag <= Self.longestLag {
      let hops = (lag &+ 1) / 2
      let hop = age &- hops
      if hop >= 0 && hop < LoopCodeTable.reach {
        let change = (lag & 1 == 0 ? now : between) - history.playedLevel(band: band, age: hops)
        var stage = 0
        while stage < LoopCodeTable.stages {
          let length = LoopCodeTable.length(stage: stage)
          if hop < length { add(change, hop: hop, stage: stage, lag: lag) }
          if hop == length &- 1, let answer = answer(stage: stage, lag: lag),
            answer.share > best?.share ?? 0
          {
            best = answer
          }
          stage &+= 1
        }
      }
      lag &+= 1
    }
    age &+= 1
    return best
  }

  @_noLocks
  private mutating func add(_ change: Float, hop: Int, stage: Int, lag: Int) {
    let place = (lag &* LoopCodeTable.stages &+ stage) &* Self.width
    sums[place] += change * change
    var column = 0
    while column < LoopCodeTable.columns {
      sums[place &+ 1 &+ column] += change * table.value(stage: stage, hop: hop, column: column)
      column &+= 1
    }
  }

  @_noLocks
  private func answer(stage: Int, lag: Int) -> Answer? {
    let place = (lag &* LoopCodeTable.stages &+ stage) &* Self.width
    let constant = sums[place &+ 1]
    // What neither rest nor rise nor bend explains.
    let rest =
      sums[place] - constant * constant - sums[place &+ 2] * sums[place &+ 2]
      - sums[place &+ 3] * sums[place &+ 3]
    guard rest > 1e-6 else { return nil }
    var best: Answer?
    var form = 0
    while form < LoopCodeTable.forms {
      let fit = sums[place &+ 4 &+ form]
      let share = fit * fit / rest
      let norm = table.norm(stage: stage, form: form)
      if fit < 0 && norm > 0 && share > best?.share ?? 0 {
        let slope = fit / (norm * Self.depth)
        let mean = constant * table.value(stage: stage, hop: 0, column: 0)
        best = Answer(
          lag: lag, stage: stage, slope: slope, share: share,
          gain: mean - slope * Self.depth * table.mean(stage: stage, form: form))
      }
      form &+= 1
    }
    return best
  }
}

// Audio thread.

import AudioBasics

/// The proof that what comes in is what went out: a code of small dips in what is played, and the
/// search for it in the level of what comes back.
///
/// For one trip round a loop of gain G (in dB) that takes j hops, the levels are
///
///     L(t) = L(t - j) + g(t - j) + G + c(t - j),
///
/// c being the code and g what the limiters took off, in dB. So for each j the difference
/// u = L(t) - L(t - j) - g(t - j) is fitted to c(t - j) (`ProbeSequenceTable`): in a loop that keeps a
/// howl up the slope is one (or more, where several trips fit into j hops) and the fit good. A loop
/// below 0 dB that some sound outside keeps going answers with less than its gain as slope; a sound
/// without a loop with none.
struct ProbeSequence: ~Copyable {
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
  private static var width: Int { @_noLocks get { 1 &+ ProbeSequenceTable.columns } }

  private let table = ProbeSequenceTable()
  private var sums: SampleBuffer
  /// Hops since the code began.
  private(set) var age = 0

  init() {
    sums = SampleBuffer(
      frameCount: (Self.longestLag + 1) * ProbeSequenceTable.stages, channelCount: Self.width)
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
    age >= ProbeSequenceTable.reach &+ min(lag, Self.longestLag) / 2
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
      if hop >= 0 && hop < ProbeSequenceTable.reach {
        let change = (lag & 1 == 0 ? now : between) - history.playedLevel(band: band, age: hops)
        var stage = 0
        while stage < ProbeSequenceTable.stages {
          let length = ProbeSequenceTable.length(stage: stage)
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
    let place = (lag &* ProbeSequenceTable.stages &+ stage) &* Self.width
    sums[place] += change * change
    var column = 0
    while column < ProbeSequenceTable.columns {
      sums[place &+ 1 &+ column] += change * table.value(stage: stage, hop: hop, column: column)
      column &+= 1
    }
  }

  @_noLocks
  private func answer(stage: Int, lag: Int) -> Answer? {
    let place = (lag &* ProbeSequenceTable.stages &+ stage) &* Self.width
    let constant = sums[place &+ 1]
    // What neither rest nor rise nor bend explains.
    let rest =
      sums[place] - constant * constant - sums[place &+ 2] * sums[place &+ 2]
      - sums[place &+ 3] * sums[place &+ 3]
    guard rest > 1e-6 else { return nil }
    var best: Answer?
    var form = 0
    while form < ProbeSequenceTable.forms {
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

/// The code that proves a loop, and what it looks like in a level, ready to be multiplied with.
///
/// Its dips are at the ones of 1001 0110, the sequence of Thue and Morse, whose sum against any
/// parabola is zero. A level sees it through a window of four hops, and perhaps through a resonance
/// of the room: so there are three forms of it, as it is, and behind a resonance that rings for 13
/// and for 40 ms. From each form all that is constant, straight or a parabola is taken off (by the
/// orthogonalisation of Gram and Schmidt), so that what swells, fades or stands still, however
/// fast, has no part in the answer.
struct ProbeSequenceTable: ~Copyable {
  /// Hops of a chip of the code, and of all eight.
  static var chipHops: Int { @_noLocks get { 5 } }
  static var hops: Int { @_noLocks get { 8 &* chipHops } }
  /// Hops in which the code is looked for.
  static var reach: Int { @_noLocks get { length(stage: 2) } }
  /// Answers are looked for when half of the code has come back, most of it, and all.
  static var stages: Int { @_noLocks get { 3 } }
  /// The code as it is, and behind two resonances.
  static var forms: Int { @_noLocks get { 3 } }
  /// A constant, a line and a parabola of length one; then the forms.
  static var columns: Int { @_noLocks get { 6 } }
  private static var bits: Int { @_noLocks get { 0b0110_1001 } }

  private var values: SampleBuffer
  private var norms: SampleBuffer
  private var means: SampleBuffer

  init() {
    values = SampleBuffer(frameCount: Self.stages * Self.reach, channelCount: Self.columns)
    norms = SampleBuffer(frameCount: Self.stages, channelCount: Self.forms)
    means = SampleBuffer(frameCount: Self.stages, channelCount: Self.forms)
    let shapes = ProbeSequenceShapes()
    for stage in 0..<Self.stages {
      for (column, shape) in shapes.columns(stage: stage).enumerated() {
        for (hop, value) in shape.values.enumerated() {
          values[place(stage, hop, column)] = Float(value)
        }
        guard column >= 3 else { continue }
        norms[stage * Self.forms + column - 3] = Float(shape.norm)
        means[stage * Self.forms + column - 3] = Float(shape.mean)
      }
    }
  }

  /// Hops of the code that a stage takes in.
  @_noLocks
  static func length(stage: Int) -> Int {
    stage == 0 ? 26 : stage == 1 ? 38 : 52
  }

  /// Whether the output is lowered in that hop.
  @_noLocks
  static func isDip(_ hop: Int) -> Bool {
    guard hop >= 0 && hop < hops else { return false }
    return (bits >> (hop / chipHops)) & 1 == 1
  }

  /// A column's value for a hop.
  @_noLocks
  func value(stage: Int, hop: Int, column: Int) -> Float {
    values[place(stage, hop, column)]
  }

  /// The length of a form of the code before it was scaled to one; 0 where it is not used.
  @_noLocks
  func norm(stage: Int, form: Int) -> Float {
    norms[stage &* Self.forms &+ form]
  }

  /// The mean of a form of the code, a dip being 1.
  @_noLocks
  func mean(stage: Int, form: Int) -> Float {
    means[stage &* Self.forms &+ form]
  }

  @_noLocks
  private func place(_ stage: Int, _ hop: Int, _ column: Int) -> Int {
    (stage &* Self.reach &+ hop) &* Self.columns &+ column
  }
}

/// What a code looks like in a level, worked out before there is any sound.
struct ProbeSequenceShapes {
  /// One column of the table: of length one, or silent where it is not used.
  struct Column {
    var values: [Double]
    /// How long it was before.
    var norm: Double
    /// What its values were on average before anything was taken off.
    var mean: Double
  }

  /// The forms of the code, hop by hop, a dip being 1.
  private var forms: [[Double]] = [[], [], []]

  init() {
    for hop in 0..<ProbeSequenceTable.reach {
      var sum = 0.0
      for part in max(0, hop - 3)...hop {
        // A dip's edges are ramps as long as a hop.
        sum += ProbeSequenceTable.isDip(part) ? 0.125 : 0
        sum += ProbeSequenceTable.isDip(part - 1) ? 0.125 : 0
      }
      forms[0].append(sum)
      for (form, ringing) in [(1, 5.0), (2, 15.0)] {
        let last = forms[form].last ?? 0
        forms[form].append(last + (sum - last) / ringing)
      }
    }
  }

  /// A constant, a line, a parabola and the forms of the code, each without what is in those
  /// before it, but for the other forms.
  func columns(stage: Int) -> [Column] {
    let length = ProbeSequenceTable.length(stage: stage)
    let silence = Column(values: [], norm: 0, mean: 0)
    var basis: [Column] = []
    for power in 0..<3 {
      let raw = (0..<length).map { hop in
        (0..<power).reduce(1.0) { product, _ in product * (Double(hop) / Double(length) - 0.5) }
      }
      // Half of the code is too much like a parabola to be told from one.
      basis.append(power < 2 || stage > 0 ? column(raw, without: basis) : silence)
    }
    return basis
      + forms.enumerated().map { form, values in
        form == 0 || stage > 0 ? column(Array(values[..<length]), without: basis) : silence
      }
  }

  private func column(_ raw: [Double], without basis: [Column]) -> Column {
    let rest = basis.reduce(raw) { rest, unit in
      let share = zip(rest, unit.values).reduce(0) { $0 + $1.0 * $1.1 }
      guard !unit.values.isEmpty else { return rest }
      return zip(rest, unit.values).map { $0 - share * $1 }
    }
    let norm = rest.reduce(0) { $0 + $1 * $1 }.squareRoot()
    return Column(
      values: norm > 0 ? rest.map { $0 / norm } : rest, norm: norm,
      mean: raw.reduce(0, +) / Double(raw.count))
  }
}

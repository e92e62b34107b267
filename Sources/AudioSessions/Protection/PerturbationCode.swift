// Audio thread.

import AudioBasics
import RealtimeAudio

/// The code that proves a loop, and the shapes of this code in a level, as columns to multiply
/// with.
///
/// The dips are at the ones of 1001 0110, the Thue-Morse sequence, whose sum against any parabola
/// is zero. A level shows the code through a window of four hops, and perhaps through a resonance
/// of the room. There are therefore three forms of it: unfiltered, and after a resonance that rings
/// for 13 ms and for 40 ms. With a constant, a line and a parabola they are the six columns by
/// which levels are multiplied.
struct PerturbationCode: ~Copyable {
  /// The number of hops of a chip of the code, and of all eight chips.
  static var chipHops: Int { @_noLocks get { 5 } }
  static var hops: Int { @_noLocks get { 8 &* chipHops } }
  /// The number of hops in which the code is searched for.
  static var reach: Int { @_noLocks get { length(stage: 2) } }
  /// The number of stages: results are evaluated when half of the code has returned, most of it,
  /// and all.
  static var stages: Int { @_noLocks get { 3 } }
  static var columns: Int { @_noLocks get { 6 } }
  private static var bits: Int { @_noLocks get { 0b0110_1001 } }

  /// The values of the columns for each hop: four lanes for the parabola's and four for the forms'.
  private var values: SampleBuffer
  /// The weights of the columns whose sum is each orthonormal column, for each stage: four lanes
  /// for the parabola's and four for the forms'.
  private var weights: SampleBuffer
  /// The factors by which a shallow and a deep code change the energy of each hop.
  private var dips: SampleBuffer

  init() {
    values = SampleBuffer(frameCount: Self.reach, channelCount: 8)
    weights = SampleBuffer(frameCount: Self.stages * Self.columns, channelCount: 8)
    dips = SampleBuffer(frameCount: Self.reach, channelCount: 2)
    let shapes = PerturbationShapes()
    // The parabola's columns are in the first three of eight lanes, the forms' in the fifth to the
    // seventh.
    let lanes = [0, 1, 2, 4, 5, 6]
    for (column, shape) in shapes.columns.enumerated() {
      for (hop, value) in shape.enumerated() {
        values[hop * 8 + lanes[column]] = Float(value)
      }
    }
    for stage in 0..<Self.stages {
      for (row, combination) in shapes.orthonormalWeights(stage: stage).enumerated() {
        for (column, weight) in combination.enumerated() {
          weights[(stage * Self.columns + row) * 8 + lanes[column]] = Float(weight)
        }
      }
    }
    for (index, isDeep) in [false, true].enumerated() {
      for (hop, dip) in PerturbationShapes.powers(isDeep: isDeep).enumerated() {
        dips[hop * 2 + index] = Float(dip)
      }
    }
  }

  /// Returns the number of hops of the code that a stage covers.
  @_noLocks
  static func length(stage: Int) -> Int {
    stage == 0 ? 26 : stage == 1 ? 38 : 52
  }

  /// Returns the stage whose last hop is `hop`; nil if there is none.
  @_noLocks
  static func stage(endingAt hop: Int) -> Int? {
    var stage = 0
    while stage < stages {
      if length(stage: stage) &- 1 == hop { return stage }
      stage &+= 1
    }
    return nil
  }

  /// Returns whether the output is lowered in that hop.
  @_noLocks
  static func isDip(_ hop: Int) -> Bool {
    guard hop >= 0 && hop < hops else { return false }
    return (bits >> (hop / chipHops)) & 1 == 1
  }

  /// Returns the change in dB that a shallow or deep code has made to the level at the end of
  /// `hop`, which is the level of the last four hops. `energies` are the energies of these hops
  /// without the code, the latest first.
  @_noLocks
  func dip(hop: Int, isDeep: Bool, energies: SIMD4<Float>) -> Float {
    let sum = energies.sum()
    guard hop < Self.reach, sum > 0 else { return 0 }
    var powers = SIMD4<Float>(repeating: 1)
    var age = 0
    while age < min(4, hop &+ 1) {
      powers[age] = dips[(hop &- age) &* 2 &+ (isDeep ? 1 : 0)]
      age &+= 1
    }
    return RealtimeDecibels.level(ofPower: (powers * energies).sum() / sum)
  }

  /// Returns the values of the columns for a hop: three for the parabola and three for the forms of
  /// the code.
  @_noLocks
  func columns(hop: Int) -> (parabola: SIMD4<Float>, forms: SIMD4<Float>) {
    (values.fourSamples(at: hop &* 8), values.fourSamples(at: hop &* 8 &+ 4))
  }

  /// Returns the inner products of levels with the orthonormal columns over the hops of a stage,
  /// calculated from those with the original columns. The fourth lane of `parabola` is the inner
  /// product of the levels with themselves.
  @_noLocks
  func orthonormal(_ parabola: SIMD4<Float>, _ forms: SIMD4<Float>, stage: Int)
    -> PerturbationProducts
  {
    var (first, second) = (SIMD4<Float>(), SIMD4<Float>())
    var row = 0
    while row < Self.columns {
      let place = (stage &* Self.columns &+ row) &* 8
      let product =
        weights.fourSamples(at: place) * parabola + weights.fourSamples(at: place &+ 4) * forms
      if row < 3 { first[row] = product.sum() } else { second[row &- 3] = product.sum() }
      row &+= 1
    }
    return PerturbationProducts(
      parabola: first, forms: second, rest: parabola[3] - (first * first).sum(),
      mean: first[0] / RealtimeMath.sqrt(Float(Self.length(stage: stage))))
  }

  /// Returns the residual of the latest levels of a band, over the length of a code, without their
  /// parabola.
  @_noLocks
  func rest(of history: borrowing LevelHistory, band: Int) -> Float {
    let now = history.level(band: band, age: 0)
    var sums = SIMD4<Float>()
    var hop = 0
    while hop < Self.reach {
      let level = history.level(band: band, age: Self.reach &- 1 &- hop) - now
      var parabola = columns(hop: hop).parabola
      parabola[3] = level
      sums += parabola * level
      hop &+= 1
    }
    return max(0, orthonormal(sums, SIMD4(), stage: Self.stages &- 1).rest)
  }
}

/// The inner products of levels with the orthonormal columns of a code.
struct PerturbationProducts: BitwiseCopyable {
  /// The products with a constant, a line and a parabola, and with the three forms of the code.
  var parabola = SIMD4<Float>()
  var forms = SIMD4<Float>()
  /// The inner product of the levels with themselves without their parabola.
  var rest: Float = 0
  /// The mean of the levels.
  var mean: Float = 0
}

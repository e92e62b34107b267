// Audio thread.
import AudioBasics

/// The code that proves a loop, and what it looks like in a level, ready to be multiplied with.
///
/// Its dips are at the ones of 1001 0110, the sequence of Thue and Morse, whose sum against any
/// parabola is zero. A level sees it through a window of four hops, and perhaps through a resonance
/// of the room: so there are three forms of it, as it is, and behind a resonance that rings for 13
/// and for 40 ms. From each form all that is constant, straight or a parabola is taken off (by the
/// orthogonalisation of Gram and Schmidt), so that what swells, fades or stands still, however
/// fast, has no part in the answer.
struct LoopCodeTable: ~Copyable {
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
    let shapes = LoopCodeShapes()
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

/// How much a block sounds like speech.
enum SpeechEvidence: Sendable {
  /// Quiet, or noise.
  case none
  /// Enough for speech that has begun to go on.
  case weak
  /// Enough for speech to begin.
  case strong

  /// Decibels by which the noise must be surpassed, over the bands' root mean square.
  private static let strongExcess = 7.0
  private static let weakExcess = 5.0
  /// How much more it must be for each decibel of the noise's unrest.
  private static let strongPerUnrest = 0.5
  private static let weakPerUnrest = 0.9
  /// Decibels between a fixed threshold and the level at which speech has ended.
  private static let hysteresis = 6.0

  /// Of a block of these `levels` over that noise.
  init(_ levels: BandLevels, over noise: NoiseFloor.Estimate) {
    let excess = (levels - noise.levels).clamped(
      lowerBound: BandLevels(repeating: 0), upperBound: BandLevels(repeating: 40))
    let surplus = ((excess * excess).sum() / 4).squareRoot()
    let strong = Self.strongExcess + Self.strongPerUnrest * noise.unrest
    let weak = min(strong, Self.weakExcess + Self.weakPerUnrest * noise.unrest)
    self = surplus >= strong ? .strong : surplus >= weak ? .weak : .none
  }

  /// Of a block of these `levels` beside a fixed threshold in dBFS.
  init(_ levels: BandLevels, threshold: Double) {
    let total = levels.total
    self = total >= threshold ? .strong : total >= threshold - Self.hysteresis ? .weak : .none
  }
}

/// What a `LoudnessMeter` has heard so far, at one moment.
public struct ProgrammeLevels: Sendable, Equatable {
  /// Each channel's highest magnitude, exactly; full scale is 1.
  public var samplePeaks: [Float] = []
  /// Each channel's highest magnitude between samples too, full scale is 1: by ITU-R BS.1770 at
  /// four times rates below 96 kHz, twice those below 192 kHz, and the sample peak above.
  public var truePeaks: [Float] = []
  /// Each channel's mean of all squared samples; its root is the RMS level.
  public var meanSquares: [Double] = []
  /// Each channel's mean of all samples: its constant part (DC).
  public var offsets: [Double] = []
  /// Each channel's samples at full scale or beyond that have such a neighbour.
  ///
  /// At full scale is what is at least 32,767/32,768: the highest that a converter of 16 bits
  /// delivers. One such sample alone may be a peak that was normalised; two in a row hardly ever
  /// are. (Audacity's Find Clipping counts runs of three by default; its manual leaves it open.)
  public var clippedSamples: [Int] = []
  /// Loudness of the whole by ITU-R BS.1770 and EBU R 128, in LUFS; nil when nothing was loud
  /// enough to count.
  public var integratedLUFS: Double?
  /// Loudness range by EBU Tech 3342, in LU; nil before three seconds or when nothing was loud
  /// enough to count.
  public var loudnessRangeLU: Double?
  /// Loudness of the last 400 ms, in LUFS; nil for silence.
  public var momentaryLUFS: Double?
  /// Loudness of the last three seconds, in LUFS; nil for silence.
  public var shortTermLUFS: Double?
  /// The highest momentary loudness, looked at every 10 ms, in LUFS; nil for silence.
  public var maximumMomentaryLUFS: Double?
  /// The highest short-term loudness, looked at every 100 ms, in LUFS; nil for silence.
  public var maximumShortTermLUFS: Double?
}

extension ProgrammeLevels {
  /// What a meter of no channels has heard.
  public static var nothing: ProgrammeLevels { ProgrammeLevels() }
}

/// The thresholds from which an estimate has a doubt or is rejected. Delays are in frames,
/// and gains are factors of the gain of the strongest arrival.
enum EstimateThreshold {
  /// The gain from which an arrival before the strongest may be the direct sound: reflections are
  /// assumed to be at most 10 dB louder.
  static let earlierGain = 0.3
  /// The gain from which another arrival is about as strong: two such delays cannot be told apart.
  static let equalGain = 0.8
  /// The gain from which a match is one of several. A match that is faint as well is typical of two
  /// signals that only resemble each other.
  static let similarGain = 0.7
  /// The score below which a match is faint. A match has at least 7.5
  /// (`ArrivalSearch.minimumScore`), which signals that only resemble each other exceed.
  static let faintScore = 12.0
  /// The least ratio of the power of a signal times its frames to the power of the noise: the
  /// square of the height of its correlation in standard deviations. The correlation of a fainter
  /// signal is not above the noise: the match is only a resemblance.
  static let minimumPower = 4.0
  /// The standard deviation, as the Cramér-Rao bound of the noise, above which a signal is faint.
  static let faintBoundFrames = 0.12
  /// The standard deviation, from an uncertain drift, above which a signal is faint.
  static let faintDriftFrames = 0.25
  /// The logarithm of the likelihood ratio below which the next best lag is as likely.
  static let ambiguousMargin = 30.0
  /// The distance of the fitted arrival from the whole frame that was found, above which it is
  /// another arrival. The fit moves an arrival by half a frame and the width of its peak.
  static let movedFrames = 2.0
  /// The difference between the methods above which they would give different whole frames, and
  /// the error of an undetected echo above which it would.
  static let wrongFrames = 0.5
  /// The difference to the lags of other methods in whole frames, each off by half a frame.
  static let wrongLagFrames = 1.5
  /// The number of standard deviations that noise does not reach.
  static let deviations = 6.0
  /// The difference between two delays of one signal that filters in a path cause without noise.
  static let equalFrames = 0.05
  /// The correction for a hidden echo above which the echo makes the delay uncertain.
  static let correctedFrames = 0.05
  /// The share of the spectrum below which an echo within the width of the peak biases the delay
  /// without being separated.
  static let partialBandShare = 0.6
  /// The bend of the phase in such a band, without noise, above which there is an echo, or a filter
  /// whose delay depends on frequency.
  static let bentFrames = 0.005
  /// The bend of the phase that noise does not reach, in standard deviations of the delay. A bend
  /// is less certain than a slope.
  static let bendDeviations = 12.0
  /// The share of the spectrum below which too little of it was received.
  static let narrowBandShare = 0.03
}

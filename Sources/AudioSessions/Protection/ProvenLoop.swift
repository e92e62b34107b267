// Audio thread.

/// The loop of a howl, as a code measured it.
struct ProvenLoop: BitwiseCopyable {
  /// The band of the howl.
  let band: Int
  private let result: LoopFit
  /// The gain of the microphone in dB at which the gain of the loop is 0 dB.
  private let unityGain: Float

  /// Creates the loop that `fit` describes, measured while the microphone had a gain of `gain` dB.
  @_noLocks
  init(_ fit: LoopFit, band: Int, gain: Float) {
    (result, self.band) = (fit, band)
    unityGain = gain - max(0, fit.gain)
  }

  /// The round-trip time in hops.
  var tripHops: Float { @_noLocks get { result.tripHops } }

  /// Returns the growth of a howl in dB per hop while the microphone has a gain of `gain` dB.
  @_noLocks
  func growth(at gain: Float) -> Float { (gain - unityGain) / tripHops }

  /// Returns the result of a code for the loop while the microphone has a gain of `gain` dB.
  @_noLocks
  func fit(at gain: Float) -> LoopFit {
    var fit = result
    fit.gain = gain - unityGain
    return fit
  }
}

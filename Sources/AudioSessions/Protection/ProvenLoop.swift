// Audio thread.

/// The loop of a howl, as a code measured it: the rate at which a howl grows in it depends on the
/// gain of the microphone.
struct ProvenLoop: BitwiseCopyable {
  /// The band of the howl.
  let band: Int
  /// The round-trip time in hops.
  let tripHops: Float
  /// The gain of the microphone in dB at which the gain of the loop is 0 dB.
  private let unityGain: Float

  /// Creates the loop that `fit` describes, measured while the microphone had a gain of `gain` dB.
  @_noLocks
  init(_ fit: LoopFit, band: Int, gain: Float) {
    self.band = band
    tripHops = fit.tripHops
    unityGain = gain - max(0, fit.gain)
  }

  /// Returns the growth of a howl in dB per hop while the microphone has a gain of `gain` dB.
  @_noLocks
  func growth(at gain: Float) -> Float { (gain - unityGain) / tripHops }
}

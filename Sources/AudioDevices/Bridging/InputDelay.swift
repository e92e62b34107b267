// Audio thread.

import AudioBasics

/// The delay from an input to the unit: that of the configuration, and the frames that are added
/// for an input that delivers in steps.
struct InputDelay: ~Copyable {
  private var arrival: ArrivalDelay
  /// The number of input frames for which the configuration's delay allows.
  private let configuredArrivalFrames: Int
  /// The delay according to the configuration, in unit frames.
  private let configuredFrames: Double
  /// The number of unit frames for one frame of the input, and in a second.
  private let unitPerFrame: Double
  private let unitSampleRate: Double
  /// The number of unit frames by which the delay is longer than the configuration states.
  private(set) var addedFrames = 0

  /// Creates the delay of an input for which the configuration states `latencyFrames` unit frames.
  /// These allow for frames that arrive `arrivalFrames` late; the delay grows to allow for
  /// `maximumArrivalFrames`, if necessary.
  init(
    latencyFrames: Double, arrivalFrames: Int, maximumArrivalFrames: Int, unitPerFrame: Double,
    unitSampleRate: Int
  ) {
    arrival = ArrivalDelay(minimumFrames: arrivalFrames, maximumFrames: maximumArrivalFrames)
    configuredArrivalFrames = arrivalFrames
    configuredFrames = latencyFrames
    self.unitPerFrame = unitPerFrame
    self.unitSampleRate = Double(unitSampleRate)
  }

  /// The delay in unit frames, rounded.
  var latencyFrames: Int {
    @_noLocks @inline(__always) get { Int(clamping: configuredFrames + 0.5) &+ addedFrames }
  }

  /// Resets the readings when the input starts again. The measured delay is kept.
  @_noLocks
  mutating func restart() { arrival.restart() }

  /// Adapts the delay to the steps in which the input delivers; see `ArrivalDelay.note`. Returns
  /// the new delay in seconds; nil if it has not changed.
  @_noLocks @inline(__always)
  mutating func note(
    delivered frames: Int, spare: Int, clock: Double, clockSeconds: Double, at now: UInt64,
    isLearning: Bool
  ) -> Double? {
    guard
      arrival.note(
        delivered: frames, spare: spare, clock: clock, clockSeconds: clockSeconds, at: now,
        isLearning: isLearning)
    else { return nil }
    addedFrames = Int(
      clamping: Double(arrival.allowedFrames &- configuredArrivalFrames) * unitPerFrame + 0.999)
    return (configuredFrames + Double(addedFrames)) / unitSampleRate
  }
}

import AudioDevices
import AudioSessions

extension DuplexEngine {
  /// The use that an engine makes of its devices.
  ///
  /// ```swift
  /// var settings = DuplexEngine.Settings()
  /// settings.monitorsMicrophone = false
  /// settings.reconnects = true
  /// let engine = DuplexEngine(device: "sim:clock=free", settings)
  /// try await engine.run(seconds: 0.1)
  /// ```
  public struct Settings: Sendable {
    /// Whether the microphone is played, if there is an input and an output. Its part of the output
    /// fades in over the first 10 ms of a run and of each change of devices, and fades out over the
    /// last 10 ms before their end; a recording of the microphone, and effects at `.input`, are not
    /// faded.
    public var monitorsMicrophone = true
    /// The limiter and the feedback suppressor while the microphone is played; by default a limiter
    /// at -1 dBFS without delay, and a suppressor. An engine has no dim: `dimGain` has no effect,
    /// and `DuplexEngine.outputGain` lowers all that is played.
    public var protection = ProtectionSettings()
    /// Whether the engine stops when the player has nothing more to play: at once if its queue is
    /// empty. While the player waits for `AudioPlayer.play`, or is paused, the engine runs. This
    /// requires an output.
    public var endsWithPlayer = false
    /// The duration of a network source in seconds, 0 or more, that must be buffered before the
    /// player begins, and again after the network was too slow; nil for 3 s, or less if the network
    /// is fast.
    public var prebufferSeconds: Double?
    /// Whether the engine waits for a device that goes away. Otherwise the engine stops.
    public var reconnects = false
    /// Whether the microphone's levels are measured, 10 times per second of the unit's time.
    public var measuresLevels = true
    /// Whether the output's levels are measured, 10 times per second of the unit's time, and its
    /// true peak and clipping throughout. Each cycle of the audio thread then takes longer, because
    /// the true peak is also sought between the samples.
    public var measuresOutputLevels = false

    /// Creates settings that play the microphone with a limiter and feedback suppression.
    public init() {}

    /// Throws if a value is out of range, or if an engine on the devices of `selection` would never
    /// end.
    func validate(_ selection: DeviceSelection) throws(EngineFailure) {
      do throws(DeviceFailure) {
        try protection.validate()
      } catch {
        throw .device(error)
      }
      if let prebufferSeconds, !(0..<Double.infinity).contains(prebufferSeconds) {
        throw .invalid("prebufferSeconds must be 0 or more, or nil: \(prebufferSeconds) is not.")
      }
      guard !endsWithPlayer || selection.request.playbackDevice != nil else {
        throw .device(
          DeviceFailure(
            .invalidRequest,
            "The engine ends with its player, which plays nothing as there is no output.",
            hint: "Name an output, or leave endsWithPlayer out."))
      }
    }
  }
}

/// The values of `protection` under names of their own.
extension DuplexEngine.Settings {
  /// The highest level of the output in dBFS while the microphone is played, -60 to 0; nil for no
  /// limiter. The same as `protection.limitDBFS`.
  public var limitDBFS: Double? {
    get { protection.limitDBFS }
    set { protection.limitDBFS = newValue }
  }

  /// The look-ahead of the limiter in seconds, up to 0.1; 0 for a limiter without delay. The same
  /// as `protection.limitLookAheadSeconds`.
  public var limitLookAheadSeconds: Double {
    get { protection.limitLookAheadSeconds }
    set { protection.limitLookAheadSeconds = newValue }
  }

  /// Whether a limiter with a look-ahead also limits the true peak. The same as
  /// `protection.limitsTruePeak`.
  public var limitsTruePeak: Bool {
    get { protection.limitsTruePeak }
    set { protection.limitsTruePeak = newValue }
  }

  /// Whether the microphone is lowered when it howls. The same as `protection.suppressesFeedback`.
  public var suppressesFeedback: Bool {
    get { protection.suppressesFeedback }
    set { protection.suppressesFeedback = newValue }
  }
}

extension EngineFailure {
  /// Returns the failure for a setting that is out of range, with `sentence` as the message.
  static func invalid(_ sentence: String) -> EngineFailure {
    .device(
      DeviceFailure(.invalidRequest, sentence, hint: "Choose a value within that range."))
  }
}

import AudioBasics
import AudioFiles
import AudioSessions

extension DuplexEngine {
  /// What an engine does with its devices.
  ///
  /// ```swift
  /// var settings = DuplexEngine.Settings()
  /// settings.monitorsMicrophone = false
  /// settings.reconnects = true
  /// let engine = DuplexEngine(device: "sim:clock=free", settings)
  /// try await engine.run(seconds: 0.1)
  /// ```
  public struct Settings: Sendable {
    /// Whether the microphone is played, where there is an input and an output.
    public var monitorsMicrophone = true
    /// The highest level of the output in dBFS while the microphone is played, -60 to 0; nil for no
    /// limiter.
    public var limitDBFS: Double? = ProtectionSettings.usualLimitDBFS
    /// Seconds by which the limiter looks ahead, up to 0.1, and delays all that is played while the
    /// microphone is; 0 for a limiter without delay.
    public var limitLookAheadSeconds = 0.0
    /// Whether a limiter that looks ahead limits the true peak, too, the level between the samples.
    public var limitsTruePeak = false
    /// Whether the microphone is lowered when it howls.
    public var suppressesFeedback = true
    /// Whether the engine stops when the player has nothing more to play: it needs an output.
    public var endsWithPlayer = false
    /// Seconds of a network source, 0 and more, that must be there before the player begins, and
    /// again after the network was too slow; nil for three, or less where the network is fast.
    public var prebufferSeconds: Double?
    /// Whether a device that goes away is waited for. Otherwise the engine stops.
    public var reconnects = false
    /// Whether the microphone's levels are measured, ten times a second of the unit's time.
    public var measuresLevels = true

    /// The settings of a monitor with protected ears.
    public init() {}

    /// Throws where a value is out of its range, or an engine on the devices of `selection` would
    /// never end.
    func validate(_ selection: DeviceSelection) throws(EngineFailure) {
      if let limitDBFS, !ProtectionSettings.limits.contains(limitDBFS) {
        throw .invalid("limitDBFS must be -60 to 0 dBFS, or nil: \(limitDBFS) is not.")
      }
      guard (0...Limiter.longestLookAhead).contains(limitLookAheadSeconds) else {
        let longest = Limiter.longestLookAhead
        throw .invalid(
          "limitLookAheadSeconds must be 0 to \(longest): \(limitLookAheadSeconds) is not.")
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

extension EngineFailure {
  /// A setting is out of its range, as `sentence` says.
  static func invalid(_ sentence: String) -> EngineFailure {
    .device(
      DeviceFailure(.invalidRequest, sentence, hint: "Choose a value within that range."))
  }
}

/// The settings of a recording of an engine: source, file format, splitting and buffering.
///
/// ```swift
/// var settings = RecordingSettings()
/// settings.source = .output
/// settings.sampleFormat = .s24
/// let engine = DuplexEngine(device: "sim:clock=free")
/// try await engine.record(to: "output.wav", settings)
/// try await engine.run(seconds: 0.1)
/// ```
public struct RecordingSettings: Sendable {
  /// What is recorded.
  public enum Source: Sendable {
    /// The microphone, after its gain.
    case microphone
    /// All that is played.
    case output
  }

  /// What is recorded.
  public var source = Source.microphone
  /// What kind of file it is; nil for what its name ends in.
  public var fileFormat: FileFormat?
  /// How samples are kept; nil for what the device delivers, with 24 bits for its 32-bit integers.
  public var sampleFormat: FileSampleFormat?
  /// Whether a file that exists is replaced.
  public var overwrite = false
  /// What the file says of itself.
  public var tags = SoundFileTags()
  /// When the next file begins; nil for one file, which can still be split by hand.
  public var split: SplitRule?
  /// Makes what decides which parts are kept, such as a `VoiceGate`, for sound at `sampleRate`
  /// frames a second with `channelCount` channels; nil to keep all. Runs on a thread of the engine.
  public var gate: (@Sendable (_ sampleRate: Int, _ channelCount: Int) -> any RecordingGate)?
  /// Seconds, more than 0, that are held in memory while the disk stands still; at most 256 MiB.
  public var ringSeconds = RecordingPlan.usualRingSeconds
  /// Whether levels and loudness are measured; where not, the levels of the report are those of
  /// nothing.
  public var measuresLevels = true

  /// The microphone, in the format that the file's name ends in.
  public init() {}
}

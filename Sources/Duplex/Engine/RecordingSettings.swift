import AudioFiles
import AudioSessions

/// The settings of a recording of an engine: source, format, the rules for its files, buffering.
///
/// ```swift
/// var settings = RecordingSettings()
/// settings.source = .output
/// settings.sampleFormat = .s24
/// let engine = DuplexEngine(device: "sim:clock=free")
/// try await engine.record(to: "output.wav", settings)
/// try await engine.run(seconds: 0.1)
/// ```
public struct RecordingSettings: RecordingFileSettings, Sendable {
  /// The source of a recording.
  public enum Source: Sendable {
    /// The microphone, after its gain.
    case microphone
    /// All audio that is played.
    case output
  }

  /// The source of the recording.
  public var source = Source.microphone
  /// The file format; nil for the format that the extension of the file's name indicates.
  public var fileFormat: FileFormat?
  /// The sample format of the file; nil for that of the device, with 24 bits for its 32-bit
  /// integers.
  public var sampleFormat: FileSampleFormat?
  /// The rules for the files: tags, the next file, what is kept, the command after each.
  public var fileRules = RecordingFileRules()
  /// A closure that makes the gate that decides which parts are kept, such as a `VoiceGate`, for
  /// audio at `sampleRate` frames per second with `channelCount` channels; nil to keep all. Runs on
  /// a thread of the engine.
  public var gate: (@Sendable (_ sampleRate: Int, _ channelCount: Int) -> any RecordingGate)?
  /// The duration in seconds, more than 0, that is held in memory while the disk stalls: at least
  /// two periods, at most 256 MiB.
  public var ringSeconds = RecordingPlan.defaultRingSeconds
  /// Whether levels and loudness are measured. If not, `EngineRecording.state` and the report
  /// contain the levels of an empty recording.
  public var measuresLevels = true

  /// Creates settings for a recording of the microphone, in the format that the extension of the
  /// file's name indicates.
  public init() {}
}

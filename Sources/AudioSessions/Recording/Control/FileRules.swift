import AudioFiles

/// The condition for continuing a recording in its next file.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// var settings = RecordingSettings()
/// settings.split = .seconds(0.5)
/// let recording = try await engine.record(to: "take.wav", settings)
/// try await engine.run(seconds: 1)
/// precondition(recording.report?.files.count == 2)
/// ```
public enum SplitRule: Sendable, Equatable {
  /// After this number of frames; never if it is below 1.
  case frames(Int)
  /// After the number of frames nearest to this duration in seconds, at least one; never if it is
  /// not above 0.
  case seconds(Double)
  /// Before the file exceeds this number of bytes; never if it is below 1.
  case bytes(Int)
  /// At the beginning of a pause or, if silence is left out, at every phrase.
  case silence
}

/// The limit on what a recording in many files keeps; the oldest of its files are removed.
public enum KeepRule: Sendable, Equatable {
  /// The number of files, including the growing one.
  case files(Int)
  /// The number of bytes, without the growing file.
  case bytes(Int)
  /// The maximum age in seconds, without the time for which the machine was suspended.
  case seconds(Double)
}

/// The rules for the files of a recording: their tags, whether they replace others, when the next
/// one begins, which are kept, and the command after each.
///
/// ```swift
/// var settings = RecordingSettings()
/// settings.fileRules.split = .seconds(1)
/// settings.keep = .files(2)  // the same as fileRules.keep
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// let recording = try await engine.record(to: "last-%02d.wav", settings)
/// try await engine.run(seconds: 5)
/// precondition(recording.report?.frames == 240_000)
/// precondition(recording.report?.files.count == 2)
/// ```
public struct RecordingFileRules: Sendable, Equatable {
  /// Whether an existing file is replaced: the file with the name of the recording and, if `split`
  /// is set, the later ones. Without `split`, later files take free names. Files that the recording
  /// itself wrote are never replaced.
  public var overwrite = false
  /// The tags of the files.
  public var tags = SoundFileTags()
  /// The condition for the next file; nil for none, but the user can still split the recording,
  /// and `continuesInNextFile` holds.
  public var split: SplitRule?
  /// Whether the recording continues in another file, named as after a split, when its file is as
  /// large as the format, the file system (4 GiB on FAT) or the limit of the process allows. False
  /// means that the recording ends there with a failure.
  public var continuesInNextFile = true
  /// The limit on what is kept; nil for no limit.
  public var keep: KeepRule?
  /// A shell command to run after each file. It receives the file's path in `$1` and in
  /// `DUPLEX_FILE`, and as its last argument if it contains no `$`. The commands run one after the
  /// other, without a limit of time, and the recording is complete when the last one has ended. An
  /// error of a command is a `RecordingEvent.warning`.
  public var onFile: String?
  /// Whether the output of that command is reported line by line (`RecordingEvent.printed`) instead
  /// of going to standard error: for programs that draw on their terminal.
  public var reportsCommandOutput = false
  /// The maximum age in seconds, 0 or more, of data that is not on the disk yet.
  public var syncSeconds = 1.0

  /// Creates the rules for one file without tags, which replaces none.
  public init() {}

  /// Throws `.invalidRequest` if a value is out of its range.
  public func validate() throws(FileFailure) {
    switch keep {
    case .files(let count) where count < 1: throw Self.invalid("The files that are kept", count)
    case .bytes(let count) where count < 1: throw Self.invalid("The bytes that are kept", count)
    case .seconds(let seconds) where !(seconds >= 0):
      throw Self.invalid("The seconds that are kept", seconds, minimum: 0)
    case .files, .bytes, .seconds, nil: break
    }
    guard syncSeconds >= 0 else {
      throw Self.invalid("The seconds of syncSeconds", syncSeconds, minimum: 0)
    }
  }

  private static func invalid(
    _ what: String, _ value: some CustomStringConvertible, minimum: Int = 1
  ) -> FileFailure {
    FileFailure(
      .invalidRequest, "\(what) must be \(minimum) or more: \(value) is not.",
      hint: "Choose a larger number, or leave it out.")
  }
}

/// Settings of a recording that contain the rules for its files, whose values are also properties
/// of the settings themselves: `RecordingPlan`, and `RecordingSettings` of an engine.
public protocol RecordingFileSettings: Sendable {
  /// The rules for the files of the recording.
  var fileRules: RecordingFileRules { get set }
}

/// The values of `fileRules` under names of their own.
extension RecordingFileSettings {
  /// Whether existing files are replaced, see `RecordingFileRules.overwrite`.
  public var overwrite: Bool {
    get { fileRules.overwrite }
    set { fileRules.overwrite = newValue }
  }

  /// The tags of the files.
  public var tags: SoundFileTags {
    get { fileRules.tags }
    set { fileRules.tags = newValue }
  }

  /// The condition for the next file; nil for one file, which can still be split by hand, see
  /// `RecordingFileRules.split`.
  public var split: SplitRule? {
    get { fileRules.split }
    set { fileRules.split = newValue }
  }

  /// Whether the recording continues in another file when its file is full, see
  /// `RecordingFileRules.continuesInNextFile`.
  public var continuesInNextFile: Bool {
    get { fileRules.continuesInNextFile }
    set { fileRules.continuesInNextFile = newValue }
  }

  /// The limit on what is kept; nil for no limit.
  public var keep: KeepRule? {
    get { fileRules.keep }
    set { fileRules.keep = newValue }
  }

  /// A shell command to run after each file, see `RecordingFileRules.onFile`.
  public var onFile: String? {
    get { fileRules.onFile }
    set { fileRules.onFile = newValue }
  }

  /// Whether the output of that command is reported, see `RecordingFileRules.reportsCommandOutput`.
  public var reportsCommandOutput: Bool {
    get { fileRules.reportsCommandOutput }
    set { fileRules.reportsCommandOutput = newValue }
  }

  /// The maximum age in seconds, 0 or more, of data that is not on the disk yet.
  public var syncSeconds: Double {
    get { fileRules.syncSeconds }
    set { fileRules.syncSeconds = newValue }
  }
}

import AudioFiles

/// When a recording goes on in its next file.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// var settings = RecordingSettings()
/// settings.split = .frames(24000)
/// let recording = try await engine.record(to: "take.wav", settings)
/// try await engine.run(seconds: 1)
/// precondition(recording.report?.files.count == 2)
/// ```
public enum SplitRule: Sendable, Equatable {
  /// After that number of frames; never where it is below 1.
  case frames(Int)
  /// Before the file grows beyond that number of bytes; never where it is below 1.
  case bytes(Int)
  /// Where a pause begins or, with silence left out, with every phrase.
  case silence
}

/// The limit on what a recording in many files keeps; the oldest of its files are removed.
public enum KeepRule: Sendable, Equatable {
  /// The number of files, the one that grows included.
  case files(Int)
  /// The number of bytes, without the file that grows.
  case bytes(Int)
  /// What is younger than that number of seconds.
  case seconds(Double)
}

/// The settings of a recording on disk: its path, formats and tags, when it is split, what is kept.
///
/// ```swift
/// var plan = RecordingPlan(
///   path: "take.flac", fileFormat: .flac, sampleFormat: .s24, sampleRate: 48000,
///   channelCount: 2)
/// plan.split = .frames(48000 * 600)
/// plan.keep = .files(6)
/// let writer = try RecordingWriter(plan, ringFrames: 96000)
/// precondition(!writer.isFailed)
/// ```
public struct RecordingPlan: Sendable {
  /// The file; of several the pattern of their names: `take.wav` gives `take-001.wav` and so on,
  /// and a name with `%` is a pattern of strftime's, by the time of a file's first frame. `-` is
  /// standard output.
  public var path: String
  /// What kind of file it is.
  public var fileFormat: FileFormat
  /// How it keeps samples.
  public var sampleFormat: FileSampleFormat
  /// How the device delivers them; nil where that is not known. The capture ring of 16 bits that
  /// are kept as 16 bits takes half the memory.
  public var capturedFormat: SampleFormat?
  /// Frames a second.
  public var sampleRate: Int
  /// Samples in a frame.
  public var channelCount: Int
  /// Whether a file that exists is replaced. Only the first: what a recording itself wrote never
  /// is.
  public var overwrite = false
  /// What is played or heard meanwhile, and so is never written to.
  public var inputs: Set<FileIdentity> = []
  /// What the files say of themselves.
  public var tags = SoundFileTags()
  /// When the next file begins; nil for one file, which can still be split by hand.
  public var split: SplitRule?
  /// How much is kept; nil for all.
  public var keep: KeepRule?
  /// A shell command to run after each file, which finds the file's path in `$1`.
  public var onFile: String?
  /// Whether what that command prints is told line by line (`RecordingEvent.printed`), instead of
  /// going to standard error: where a program draws on its terminal.
  public var tellsCommandOutput = false
  /// How old, in seconds, what is not yet on the disk may grow.
  public var syncSeconds = 1.0
  /// Seconds that are listened to and judged before the take begins.
  public var checkSeconds = 0.0
  /// Whether levels and loudness are measured: where not, `RecordingReport.levels` are those of
  /// nothing.
  public var measuresLevels = true
  /// Whether silence is left out by the gate, so that each segment begins at a time of its own.
  public var leavesSilenceOut = false
  /// Where the sound goes that was not cleaned: no other file of the recording gets that name.
  var rawPath: String?
  /// Whether time is virtual, and so begins on 1 January 1970.
  public var isVirtual = false

  /// All of what is recorded, in one file.
  public init(
    path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int
  ) {
    self.path = path
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Throws `.invalidRequest` where a value is out of its range, or the format cannot hold such
  /// sound.
  func validate() throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    switch keep {
    case .files(let count) where count < 1: throw Self.invalid("The files that are kept", count)
    case .bytes(let count) where count < 1: throw Self.invalid("The bytes that are kept", count)
    case .seconds(let seconds) where !(seconds >= 0):
      throw Self.invalid("The seconds that are kept", seconds, least: 0)
    case .files, .bytes, .seconds, nil: break
    }
  }

  private static func invalid(
    _ what: String, _ value: some CustomStringConvertible, least: Int = 1
  ) -> FileFailure {
    FileFailure(
      .invalidRequest, "\(what) must be \(least) or more: \(value) is not.",
      hint: "Choose a larger number, or leave it out.")
  }

  /// Whether the recording goes to standard output.
  public var isStream: Bool { path == "-" }

  /// Frames of a timeline that no recording comes to, and that can be calculated with.
  static let mostFrames = Int.max / 8

  /// Frames that are listened to and judged before the take begins.
  package var checkFrames: Int {
    Int(clamping: checkSeconds * Double(sampleRate)).clamped(to: 0...Self.mostFrames)
  }

  /// Whether the files lose nothing by a ring of 16 bits, where nothing is done to the sound before
  /// it is written.
  var isSixteenBit: Bool {
    switch capturedFormat {
    case .s16LE, .s16BE: sampleFormat == .s16
    default: false
    }
  }

  /// The same for one file of what was not cleaned, in `path`.
  func raw(_ path: String) -> RecordingPlan {
    var plan = self
    plan.path = path
    plan.rawPath = nil
    plan.split = nil
    plan.keep = nil
    plan.onFile = nil
    plan.leavesSilenceOut = false
    plan.measuresLevels = false
    return plan
  }

  /// Whether each phrase gets a file of its own, which is made when speech begins.
  var isFilePerSegment: Bool { leavesSilenceOut && split == .silence }
}

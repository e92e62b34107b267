import AudioFiles

/// The settings of a recording on disk: its path, formats and tags, when it is split, what is kept.
///
/// ```swift
/// var plan = RecordingPlan(
///   path: "take.flac", fileFormat: .flac, sampleFormat: .s24, sampleRate: 48000,
///   channelCount: 2)
/// plan.split = .seconds(600)
/// plan.keep = .files(6)
/// let writer = try RecordingWriter(plan, ringFrames: 96000)
/// precondition(!writer.isFailed)
/// ```
public struct RecordingPlan: RecordingFileSettings, Sendable {
  /// The path of the file, or the pattern for the names of several files: `take.wav` gives
  /// `take-001.wav` and so on, and a name with `%` is a pattern for strftime with the time of a
  /// file's first frame. `-` is standard output.
  public var path: String
  /// The file format.
  public var fileFormat: FileFormat
  /// The sample format.
  public var sampleFormat: FileSampleFormat
  /// The sample format of the device; nil if unknown. If 16-bit samples are stored as 16-bit
  /// samples, the capture ring needs half the memory.
  public var capturedFormat: SampleFormat?
  /// The sample rate in frames per second.
  public var sampleRate: Int
  /// The number of channels, which is the number of samples in a frame.
  public var channelCount: Int
  /// The rules for the files: tags, the next file, what is kept, the command after each.
  public var fileRules = RecordingFileRules()
  /// Whether the recording takes the next free name, such as `x-2.wav`, if another program creates
  /// a file of its name first. False means that this is an error, since the user chose the name.
  public var takesFreeName = false
  /// The files that are played or listened to at the same time, which are never written to.
  public var inputs: Set<FileIdentity> = []
  /// Whether to give up waiting for a reader, if `path` is a pipe without one. Called every 50 ms
  /// of the wait of up to 3 seconds, on the thread that creates the recording.
  public var shouldStopWaiting: @Sendable () -> Bool = { false }
  /// The number of seconds for which the input is measured before the take begins.
  public var checkSeconds = 0.0
  /// Whether levels and loudness are measured; if not, `RecordingReport.levels` is `.nothing`.
  public var measuresLevels = true
  /// Whether the gate leaves silence out, so that the segments begin at different times.
  public var leavesSilenceOut = false
  /// The path for the uncleaned audio, which no other file of the recording gets; nil if it is not
  /// recorded.
  var rawPath: String?
  /// Whether the files contain the uncleaned audio of a recording that has other files.
  private(set) var isRaw = false
  /// Whether time is virtual, and so begins on 1 January 1970.
  public var isVirtual = false

  /// Creates a plan that records everything in one file.
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

  /// Throws `.invalidRequest` if a value is out of its range, or if the format cannot hold such
  /// audio.
  func validate() throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    try fileRules.validate()
    if let raw { try raw.validate() }
    guard !isStream || keep == nil && onFile == nil else {
      throw FileFailure(
        .invalidRequest,
        "Standard output is not a file: none is kept or removed, and no command runs for it.",
        hint: "Name a file, or leave keep and onFile out.")
    }
  }

  /// Whether the recording goes to standard output.
  public var isStream: Bool { path == "-" }

  /// A frame number that no recording reaches, small enough for arithmetic without overflow.
  static let maximumFrames = Int.max / 8

  /// The number of frames that are measured before the take begins.
  package var checkFrames: Int {
    Int(clamping: checkSeconds * Double(sampleRate)).clamped(to: 0...Self.maximumFrames)
  }

  /// Whether a ring of 16-bit samples loses nothing, provided that the audio is not processed
  /// before it is written.
  var isSixteenBit: Bool {
    switch capturedFormat {
    case .s16LE, .s16BE: sampleFormat == .s16
    default: false
    }
  }

  /// The plan for the uncleaned audio, which is in one file until that is full; nil if it is not
  /// recorded. The format of the file is that of its extension, or of the recording if it has none.
  var raw: RecordingPlan? {
    guard let rawPath else { return nil }
    var plan = self
    plan.path = rawPath
    plan.rawPath = nil
    if let own = FileFormat(pathExtensionOf: rawPath), own != fileFormat {
      // A sample format that was chosen for the recording counts here as well, where it can.
      let isDefault = sampleFormat == fileFormat.sampleFormat(delivered: capturedFormat)
      plan.fileFormat = own
      plan.sampleFormat =
        isDefault ? own.sampleFormat(delivered: capturedFormat) : own.nearest(to: sampleFormat)
    }
    plan.isRaw = true
    plan.takesFreeName = false
    plan.split = nil
    plan.keep = nil
    plan.onFile = nil
    plan.leavesSilenceOut = false
    plan.measuresLevels = false
    return plan
  }

  /// Whether each phrase gets a separate file, which is created when speech begins.
  var isFilePerSegment: Bool { leavesSilenceOut && split == .silence }
}

extension RecordingPlan {
  /// Creates the writer of a file of the recording, which with `overwrite` replaces an existing
  /// one. Throws as the initialisers of `SoundFileWriter` do.
  func makeWriter(_ path: String, overwrite: Bool) throws(FileFailure) -> SoundFileWriter {
    isStream
      ? try SoundFileWriter(
        fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
        channelCount: channelCount)
      : try SoundFileWriter(
        path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
        channelCount: channelCount, overwrite: overwrite, tags: tags,
        shouldStopWaiting: shouldStopWaiting)
  }
}

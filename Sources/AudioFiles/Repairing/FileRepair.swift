import Glibc

/// Repairs of sound files whose header states wrong lengths, or whose end is torn.
///
/// Only a few hundred kilobytes are in memory, however long the file is. Any thread but the audio
/// thread.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// try await engine.record(to: "take.wav")
/// try await engine.run(seconds: 1)
/// let finding = try FileRepair.examine("take.wav")
/// precondition(finding.isIntact && finding.frames == 48000)
/// ```
public enum FileRepair {
  /// Examines the file `path` and changes nothing. `lostHeader` is the format of a WAV file whose
  /// header is lost. With `inPlace`, no other program may be writing the file, even if it has no
  /// fault at present.
  ///
  /// Throws `.cannotOpen`, `.permissionDenied`, `.readFailed`, and `.unusableContents` if it is not
  /// a sound file, contains too little data, or cannot be played although its lengths are right.
  public static func examine(
    _ path: String, lostHeader: LostHeader? = nil, inPlace: Bool = false
  ) throws(FileFailure) -> RepairFinding {
    if inPlace { try checkIsComplete(path) }
    let finding = try finding(of: path, lostHeader)
    try RepairCheck.check(finding)
    return finding
  }

  /// Throws `.cannotOpen` if another program is writing the file.
  private static func checkIsComplete(_ path: String) throws(FileFailure) {
    // The failure to open a file is reported where it is read.
    guard let file = try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK) else { return }
    do throws(SystemError) { try file.lock() } catch { throw .stillWritten(path) }
  }

  private static func finding(
    of path: String, _ lostHeader: LostHeader?
  ) throws(FileFailure) -> RepairFinding {
    let file = try DamagedFile(path)
    guard file.byteCount > 0 else {
      throw FileFailure(
        .unusableContents, "\(path) is empty.", hint: "Look for another copy of it.")
    }
    let head = try file.bytes(at: 0, count: 40)
    if let container = SoundContainer(head: head) {
      switch container {
      case .riff, .rf64, .bw64: return try WaveRepair(file, container).finding()
      case .wave64: return try Wave64Repair(file: file).finding()
      case .aiff: return try AIFFRepair(file: file).finding()
      case .caf: return try CoreAudioRepair(file: file).finding()
      case .flac: return try FLACRepair(file, at: 0).finding()
      case .ogg:
        var repair = OggRepair(file)
        return try repair.finding()
      case .rifx, .au, .littleEndianAU: throw .noSoundFile(path, container)
      }
    }
    if let start = try file.endOfID3Tags(), start > 0,
      try SoundContainer(beginning: file.bytes(at: start, count: 4)) == .flac
    {
      return try FLACRepair(file, at: start).finding()
    }
    let zeros = try file.leadingZeros(atMost: LostHeader.maximumByteCount)
    if let repair = try WaveRepair(file, zeros: zeros) { return try repair.finding() }
    guard zeros >= head.count else { throw .noSoundFile(path) }
    // A file that has no room for samples after a header has not lost a header either.
    guard file.byteCount > LostHeader.plainHeaderByteCount else { throw .noFrames(path) }
    guard let lostHeader else {
      throw FileFailure(
        .unusableContents, "\(path) begins with zeros: its header is lost.",
        hint: "Say what it held, if it was a WAV file: rate, channels and sample format.",
        remedy: .describeLostHeader)
    }
    return try lostHeader.finding(file)
  }
}

/// The result of examining a sound file: its faults, and the length of its audio.
public struct RepairFinding: Sendable {
  /// The path of the file.
  public let path: String
  /// The format of the file after the repair.
  public let fileFormat: FileFormat
  /// The number of frames in the file.
  public let frames: Int
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The number of frames in the header; nil if it is missing or cannot be read.
  public let headerFrames: Int?
  /// The faults, as parts of a sentence: "the header said 0".
  public let faults: [String]
  let plan: RepairPlan

  /// Whether there are no faults.
  public var isIntact: Bool { faults.isEmpty }
  /// Whether the file can be repaired.
  public var isRepairable: Bool { !plan.isEmpty }
  /// Whether only a copy can be repaired, because bytes must move.
  public var needsCopy: Bool { !plan.fitsInPlace }
  /// The length of the audio in seconds.
  public var seconds: Double { Double(frames) / Double(sampleRate) }

  /// The faults, one sentence each.
  public var problems: [String] {
    faults.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
  }
}

/// Failures of a repair.
extension FileFailure {
  /// Returns the failure of a file in which a required part is missing.
  static func lost(_ part: String, of kind: String, _ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) begins like \(kind), but its \(part) cannot be found.",
      hint: "Look for another copy of it.")
  }

  /// Returns the failure of a file whose sample format has no computable length.
  static func unknownSamples(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) has an unknown sample format.",
      hint: "Try ffmpeg -i on it, or look for another copy.")
  }

  /// Returns the failure of a file that is of no repairable format.
  static func noSoundFile(_ path: String, _ container: SoundContainer? = nil) -> FileFailure {
    FileFailure(
      .unusableContents,
      container.map { "\(path) is \($0.title), which cannot be repaired." }
        ?? "\(path) is not a sound file that can be repaired.",
      hint: "WAV, RF64, Wave64, CAF, AIFF, FLAC, Ogg Vorbis and Opus can be repaired.")
  }

  /// Returns the failure of a file without a single whole frame.
  static func noFrames(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) holds no whole frame of sound.",
      hint: "Look for another copy of it.")
  }

  /// Returns the failure of a file that another program is writing.
  static func stillWritten(_ path: String) -> FileFailure {
    FileFailure(.cannotOpen, "\(path) is still being written.", hint: "Wait until it is complete.")
  }
}

/// Mends sound files whose header does not say what they hold, or whose end is torn.
///
/// However long the file is, a few hundred kilobytes of it are in memory. Any thread but the audio
/// thread.
public enum FileRepair {
  /// Looks at the file `path` and changes nothing. `wiped` says what a WAV file held whose header
  /// is lost.
  ///
  /// Throws `.cannotOpen`, `.permissionDenied`, `.readFailed`, and `.unusableContents` for what is no
  /// sound file, or holds too little to go by.
  public static func examine(
    _ path: String, wiped: LostHeader? = nil
  ) throws(FileFailure) -> RepairFinding {
    let file = try DamagedFile(path)
    guard file.byteCount > 0 else {
      throw FileFailure(
        .unusableContents, "\(path) is empty.", hint: "Look for another copy of it.")
    }
    let head = try file.bytes(at: 0, count: 40)
    switch (head.identifier(at: 0), head.identifier(at: 8)) {
    case ("RIFF", "WAVE"), ("RF64", "WAVE"), ("BW64", "WAVE"):
      return try WaveRepair(file).finding()
    case ("FORM", "AIFF"), ("FORM", "AIFC"): return try AIFFRepair(file: file).finding()
    case ("riff", _) where head.identifier(at: 24) == "wave":
      return try Wave64Repair(file: file).finding()
    case ("caff", _): return try CoreAudioRepair(file: file).finding()
    case ("fLaC", _): return try FLACRepair(file, at: 0).finding()
    case ("OggS", _):
      var repair = OggRepair(file)
      return try repair.finding()
    default: break
    }
    if let start = try file.endOfID3Tags(), start > 0,
      try file.bytes(at: start, count: 4).identifier(at: 0) == "fLaC"
    {
      return try FLACRepair(file, at: start).finding()
    }
    guard head.allSatisfy({ $0 == 0 }) else { throw .noSoundFile(path) }
    // Not even a header is lost where there is no room for sound behind one.
    guard file.byteCount > 44 else { throw .noFrames(path) }
    guard let wiped else {
      throw FileFailure(
        .unusableContents, "\(path) begins with zeros: its header is lost.",
        hint: "Say what it held, if it was a WAV file: --rate, --channels and --sample-format.")
    }
    return try wiped.finding(file)
  }
}

/// What is wrong with a sound file, and how much sound it holds.
public struct RepairFinding: Sendable {
  /// What the file is called.
  public let path: String
  /// What kind of file it is when it is mended.
  public let fileFormat: FileFormat
  /// Frames that are there.
  public let frames: Int
  /// Frames a second.
  public let sampleRate: Int
  /// Frames that the header announces; nil where it does not say, or cannot be read.
  public let headerFrames: Int?
  /// What is wrong, as parts of a sentence: "the header said 0".
  public let faults: [String]
  let plan: RepairPlan

  /// Whether nothing is wrong.
  public var wasSound: Bool { faults.isEmpty }
  /// Whether something can be done about it.
  public var isMendable: Bool { !plan.isEmpty }
  /// Whether only a copy can be mended, because bytes must move.
  public var needsCopy: Bool { !plan.fitsInPlace }
  /// How long the sound is.
  public var seconds: Double { Double(frames) / Double(sampleRate) }

  /// What is wrong, a sentence each.
  public var problems: [String] {
    faults.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
  }
}

/// What of a file must become other bytes, so that it says what it holds.
struct RepairPlan: Sendable, Equatable {
  /// Bytes in the place of a stretch of the file.
  struct Edit: Sendable, Equatable {
    let range: Range<Int>
    let bytes: [UInt8]

    var keepsLength: Bool { bytes.count == range.count }
  }

  /// How long the file was when it was looked at.
  let byteCount: Int
  /// In the order in which they are made: the inner sizes before the outer ones.
  private(set) var edits: [Edit] = []
  /// What becomes of the end: from here on the file holds `ending`.
  private(set) var end: Int
  private(set) var ending: [UInt8] = []

  init(byteCount: Int) {
    self.byteCount = byteCount
    end = byteCount
  }

  /// Whether nothing changes.
  var isEmpty: Bool { edits.isEmpty && end == byteCount && ending.isEmpty }

  /// Whether every byte that stays, stays where it is.
  var fitsInPlace: Bool { edits.allSatisfy(\.keepsLength) }

  /// How long the mended file is.
  var mendedByteCount: Int {
    edits.reduce(end + ending.count) { $0 + $1.bytes.count - $1.range.count }
  }

  /// Puts `bytes` in the place of as many at `place`, where they differ.
  mutating func set(_ bytes: [UInt8], at place: Int, in file: DamagedFile) throws(FileFailure) {
    guard try file.bytes(at: place, count: bytes.count) != bytes else { return }
    edits.append(Edit(range: place..<place + bytes.count, bytes: bytes))
  }

  /// Puts `bytes` before the byte at `place`.
  mutating func insert(_ bytes: [UInt8], at place: Int) {
    edits.append(Edit(range: place..<place, bytes: bytes))
  }

  /// Ends the file at `place`, with `bytes` behind it, unless it does.
  mutating func cut(
    at place: Int, ending bytes: [UInt8] = [], in file: DamagedFile
  ) throws(FileFailure) {
    let rest = byteCount - place
    if rest == bytes.count, try file.bytes(at: place, count: rest) == bytes { return }
    end = place
    ending = bytes
  }
}

/// Why a file cannot be mended.
extension FileFailure {
  /// A part without which nothing can be said is not there.
  static func lost(_ part: String, of kind: String, _ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) begins like a \(kind) file, but its \(part) cannot be found.",
      hint: "Look for another copy of it.")
  }

  /// The samples are of a kind whose length cannot be worked out.
  static func unknownSamples(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) does not say in a way we know how it keeps its samples.",
      hint: "Try ffmpeg -i on it, or look for another copy.")
  }

  /// The file is none that can be mended.
  static func noSoundFile(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) is no sound file that can be mended.",
      hint: "WAV, RF64, Wave64, CAF, AIFF, FLAC, Ogg Vorbis and Opus can.")
  }

  /// Not one frame is whole.
  static func noFrames(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) holds no whole frame of sound.",
      hint: "Look for another copy of it.")
  }
}

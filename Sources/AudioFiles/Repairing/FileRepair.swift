import Glibc

/// Mends sound files whose header does not say what they hold, or whose end is torn.
///
/// However long the file is, a few hundred kilobytes of it are in memory. Any thread but the audio
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
  /// Looks at the file `path` and changes nothing. `wiped` says what a WAV file held whose header
  /// is lost. One that is to be mended `inPlace` must not be written by another program, also where
  /// nothing is wrong with it at the moment.
  ///
  /// Throws `.cannotOpen`, `.permissionDenied`, `.readFailed`, and `.unusableContents` for what is
  /// no sound file, holds too little to go by, or cannot be played though its lengths are right.
  public static func examine(
    _ path: String, wiped: LostHeader? = nil, inPlace: Bool = false
  ) throws(FileFailure) -> RepairFinding {
    if inPlace { try checkIsComplete(path) }
    let finding = try finding(of: path, wiped)
    try RepairCheck.check(finding)
    return finding
  }

  /// Throws `.cannotOpen` where another program writes the file.
  private static func checkIsComplete(_ path: String) throws(FileFailure) {
    // Why a file cannot be opened is told where it is read.
    guard let file = try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK) else { return }
    do throws(SystemError) { try file.lock() } catch { throw stillWritten(path) }
  }

  private static func finding(
    of path: String, _ wiped: LostHeader?
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
    let zeros = try file.leadingZeros(atMost: LostHeader.longestByteCount)
    if let repair = try WaveRepair(file, zeros: zeros) { return try repair.finding() }
    guard zeros >= head.count else { throw .noSoundFile(path) }
    // Not even a header is lost where there is no room for sound behind one.
    guard file.byteCount > LostHeader.plainHeaderByteCount else { throw .noFrames(path) }
    guard let wiped else {
      throw FileFailure(
        .unusableContents, "\(path) begins with zeros: its header is lost.",
        hint: "Say what it held, if it was a WAV file: rate, channels and sample format.",
        remedy: .describeLostHeader)
    }
    return try wiped.finding(file)
  }
}

/// Result of examining a sound file: its faults, and how much sound it holds.
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
  public var isIntact: Bool { faults.isEmpty }
  /// Whether something can be done about it.
  public var isRepairable: Bool { !plan.isEmpty }
  /// Whether only a copy can be mended, because bytes must move.
  public var needsCopy: Bool { !plan.fitsInPlace }
  /// How long the sound is.
  public var seconds: Double { Double(frames) / Double(sampleRate) }

  /// What is wrong, a sentence each.
  public var problems: [String] {
    faults.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
  }
}

/// Edits to the bytes of a file, after which it describes its contents correctly.
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
  /// New end of the file: from here on the file holds `ending`.
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

  /// Puts `bytes` in the place of as many at `offset`, where they differ.
  mutating func set(_ bytes: [UInt8], at offset: Int, in file: DamagedFile) throws(FileFailure) {
    guard try file.bytes(at: offset, count: bytes.count) != bytes else { return }
    edits.append(Edit(range: offset..<offset + bytes.count, bytes: bytes))
  }

  /// Puts `bytes` before the byte at `offset`.
  mutating func insert(_ bytes: [UInt8], at offset: Int) {
    replace(offset..<offset, with: bytes)
  }

  /// Puts `bytes`, as many as there may be, in the place of a stretch of the file.
  mutating func replace(_ range: Range<Int>, with bytes: [UInt8]) {
    edits.append(Edit(range: range, bytes: bytes))
  }

  /// Ends the file at `offset`, with `bytes` behind it, unless it does.
  mutating func cut(
    at offset: Int, ending bytes: [UInt8] = [], in file: DamagedFile
  ) throws(FileFailure) {
    let rest = byteCount - offset
    if rest == bytes.count, try file.bytes(at: offset, count: rest) == bytes { return }
    end = offset
    ending = bytes
  }
}

/// Failures of a repair.
extension FileFailure {
  /// A part without which nothing can be said is not there.
  static func lost(_ part: String, of kind: String, _ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) begins like \(kind), but its \(part) cannot be found.",
      hint: "Look for another copy of it.")
  }

  /// The samples are of a kind whose length cannot be worked out.
  static func unknownSamples(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) has an unknown sample format.",
      hint: "Try ffmpeg -i on it, or look for another copy.")
  }

  /// The file is none that can be mended.
  static func noSoundFile(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) is not a sound file that can be repaired.",
      hint: "WAV, RF64, Wave64, CAF, AIFF, FLAC, Ogg Vorbis and Opus can be repaired.")
  }

  /// Not one frame is whole.
  static func noFrames(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) holds no whole frame of sound.",
      hint: "Look for another copy of it.")
  }
}

extension FileRepair {
  /// Writes what `finding` found, mended, to `path`, and leaves the file itself alone. `isStopped`
  /// is asked again and again whether it is to be stopped, and told how much of it is there, of 1.
  ///
  /// Throws `.interrupted` then, `.unusableContents` where the mended file cannot be played,
  /// `.cannotCreate` where there is such a file, unless `overwrite`, `.permissionDenied`,
  /// `.diskFull`, `.writeFailed` or `.readFailed`; nothing is left behind then, and a file that was
  /// to be overwritten is as it was.
  public static func write(
    _ finding: RepairFinding, to path: String, overwrite: Bool,
    isStopped: (_ done: Double) -> Bool = { _ in false }
  ) throws(FileFailure) {
    guard !SoundFileReader.isSame(path, finding.path) else {
      throw FileFailure(
        .cannotCreate, "\(path) is the damaged file itself.",
        hint: "Choose another name, or mend it in place.", remedy: .repairInPlace)
    }
    let draft = try DraftFile(for: path, overwrite: overwrite)
    try copy(finding, to: draft.descriptor, calling: path, isStopped)
    let number = draft.descriptor.number
    let mended = try mapSystemError(try LocalFile(duplicating: number, name: path)) {
      .opening(path, $0)
    }
    try RepairCheck.check(finding) { mended }
    try draft.publish()
  }

  /// Mends the file itself: only the bytes that must change are written, the outermost last, so
  /// that a kill in between leaves it no worse than it was.
  ///
  /// Throws `.invalidRequest` where bytes would have to move, `.permissionDenied` for a file that
  /// is read-only, `.cannotOpen` where its length has changed since it was looked at,
  /// `.unusableContents` where it could not be read even then, `.diskFull` or `.writeFailed`.
  public static func repairInPlace(_ finding: RepairFinding) throws(FileFailure) {
    let plan = finding.plan
    let path = finding.path
    guard plan.fitsInPlace else {
      throw FileFailure(
        .invalidRequest,
        "\(path) has no room for what its header must say: only a copy can be mended.",
        hint: "Mend a copy.", remedy: .mendCopy)
    }
    // The administrator may write everything, but the file is marked as read-only.
    if let status = try? FileSystem.status(of: path), status.st_mode & 0o222 == 0 {
      throw .creating(path, SystemError(number: EACCES))
    }
    // Before anything is written: what is cut off could not be put back.
    try RepairCheck.check(finding) { () throws(FileFailure) in try RepairedBytes(plan, path) }
    let before = try originals(plan, path)
    var isUndone = true
    do throws(SystemError) {
      let file = try FileDescriptor(opening: path, O_WRONLY)
      try file.lock()
      guard try file.status.byteCount == plan.byteCount else { throw SystemError(number: EAGAIN) }
      do throws(SystemError) {
        try mend(file, plan)
      } catch {
        isUndone = restore(before, plan, in: file)
        throw error
      }
    } catch {
      throw unmended(path, error, isUndone: isUndone)
    }
  }

  private static func stillWritten(_ path: String) -> FileFailure {
    FileFailure(.cannotOpen, "\(path) is still being written.", hint: "Wait until it is complete.")
  }

  private static func unmended(
    _ path: String, _ error: SystemError, isUndone: Bool
  ) -> FileFailure {
    switch error.number {
    case EAGAIN: stillWritten(path)
    case ENOSPC, EDQUOT, EIO, EFBIG:
      .writing(
        path, error,
        saved: isUndone
          ? "what it held before" : "all its sound, but its header is mended in part only")
    default: .creating(path, error)
    }
  }

  private static func mend(
    _ file: borrowing FileDescriptor, _ plan: RepairPlan
  ) throws(SystemError) {
    let grows = plan.mendedByteCount > plan.byteCount
    if grows { try end(file, plan) }
    for edit in plan.edits {
      try OutputBytes.write(edit.bytes, at: edit.range.lowerBound, to: file.number)
      // What is not on the disk yet may still find it full.
      try OutputBytes.synchronize(file.number)
    }
    if !grows { try end(file, plan) }
  }

  /// What the bytes are that are to change, in the order in which they are put back.
  private static func originals(
    _ plan: RepairPlan, _ path: String
  ) throws(FileFailure) -> [(offset: Int, bytes: [UInt8])] {
    let file = try DamagedFile(path)
    let covered = min(plan.ending.count, max(0, plan.byteCount - plan.end))
    var originals = [(offset: plan.end, bytes: try file.bytes(at: plan.end, count: covered))]
    for edit in plan.edits.reversed() {
      let bytes = try file.bytes(at: edit.range.lowerBound, count: edit.range.count)
      originals.append((offset: edit.range.lowerBound, bytes: bytes))
    }
    return originals
  }

  /// Makes the file what it was; whether that was possible.
  private static func restore(
    _ originals: [(offset: Int, bytes: [UInt8])], _ plan: RepairPlan,
    in file: borrowing FileDescriptor
  ) -> Bool {
    do throws(SystemError) {
      guard try file.status.byteCount >= plan.byteCount else { return false }
      for original in originals {
        try OutputBytes.write(original.bytes, at: original.offset, to: file.number)
      }
      try file.truncate(to: plan.byteCount)
      try OutputBytes.synchronize(file.number)
      return true
    } catch {
      return false
    }
  }

  private static func end(_ file: borrowing FileDescriptor, _ plan: RepairPlan)
    throws(SystemError)
  {
    try OutputBytes.write(plan.ending, at: plan.end, to: file.number)
    if plan.mendedByteCount < plan.byteCount { try file.truncate(to: plan.mendedByteCount) }
    try OutputBytes.synchronize(file.number)
  }

  private static func copy(
    _ finding: RepairFinding, to file: borrowing FileDescriptor, calling path: String,
    _ isStopped: (_ done: Double) -> Bool
  ) throws(FileFailure) {
    let plan = finding.plan
    let source = try DamagedFile(finding.path)
    guard source.byteCount == plan.byteCount else {
      throw stillWritten(finding.path)
    }
    var output = 0
    var offset = 0
    for edit in plan.edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      try copy(source, offset..<edit.range.lowerBound, to: file, at: &output, path, isStopped)
      try put(edit.bytes, to: file, at: &output, path)
      offset = edit.range.upperBound
    }
    try copy(source, offset..<plan.end, to: file, at: &output, path, isStopped)
    try put(plan.ending, to: file, at: &output, path)
    let number = file.number
    try mapSystemError(try OutputBytes.synchronize(number)) { unwritten(path, $0) }
  }

  private static func copy(
    _ source: DamagedFile, _ range: Range<Int>, to file: borrowing FileDescriptor,
    at output: inout Int, _ path: String, _ isStopped: (_ done: Double) -> Bool
  ) throws(FileFailure) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let done = Double(offset) / Double(source.byteCount)
      guard !isStopped(min(done, 1)) else { throw .interrupted(path) }
      let bytes = try source.bytes(at: offset, count: min(1_048_576, range.upperBound - offset))
      guard !bytes.isEmpty else {
        throw .reading(source.path, SystemError(number: EIO))
      }
      try put(bytes, to: file, at: &output, path)
      offset += bytes.count
    }
  }

  private static func put(
    _ bytes: [UInt8], to file: borrowing FileDescriptor, at output: inout Int, _ path: String
  ) throws(FileFailure) {
    let (number, offset) = (file.number, output)
    try mapSystemError(try OutputBytes.write(bytes, at: offset, to: number)) { unwritten(path, $0) }
    output += bytes.count
  }

  private static func unwritten(_ path: String, _ error: SystemError) -> FileFailure {
    if error.isFullDisk {
      return FileFailure(
        .diskFull, "The disk is full: \(path) was not written.",
        hint: "Make room, choose another disk, or mend the file in place.", remedy: .makeRoom)
    }
    return FileFailure(
      .writeFailed, "\(path) was not written: \(error.reason).", hint: "Check the disk.")
  }
}

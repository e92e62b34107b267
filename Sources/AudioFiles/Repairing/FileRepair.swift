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
    do throws(SystemError) { try file.lock() } catch { throw fileInUse(path) }
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

/// Edits to the bytes of a file, after which it describes its contents correctly.
struct RepairPlan: Sendable, Equatable {
  /// Bytes that replace a stretch of the file.
  struct Edit: Sendable, Equatable {
    let range: Range<Int>
    let bytes: [UInt8]

    var keepsLength: Bool { bytes.count == range.count }
  }

  /// The length of the file in bytes when it was examined.
  let byteCount: Int
  /// The edits in the order in which they are made: the inner sizes before the outer ones.
  private(set) var edits: [Edit] = []
  /// The new end of the file: `ending` follows at this offset.
  private(set) var end: Int
  private(set) var ending: [UInt8] = []

  init(byteCount: Int) {
    self.byteCount = byteCount
    end = byteCount
  }

  /// Whether the plan changes nothing.
  var isEmpty: Bool { edits.isEmpty && end == byteCount && ending.isEmpty }

  /// Whether every byte that is kept also keeps its offset.
  var fitsInPlace: Bool { edits.allSatisfy(\.keepsLength) }

  /// The length of the repaired file in bytes.
  var repairedByteCount: Int {
    edits.reduce(end + ending.count) { $0 + $1.bytes.count - $1.range.count }
  }

  /// Replaces as many bytes at `offset` by `bytes`, if they differ.
  mutating func set(_ bytes: [UInt8], at offset: Int, in file: DamagedFile) throws(FileFailure) {
    guard try file.bytes(at: offset, count: bytes.count) != bytes else { return }
    replace(offset..<offset + bytes.count, with: bytes)
  }

  /// Inserts `bytes` before the byte at `offset`.
  mutating func insert(_ bytes: [UInt8], at offset: Int) {
    replace(offset..<offset, with: bytes)
  }

  /// Replaces a stretch of the file by `bytes`, unless it reaches beyond the new end.
  mutating func replace(_ range: Range<Int>, with bytes: [UInt8]) {
    guard range.upperBound <= end else { return }
    edits.append(Edit(range: range, bytes: bytes))
  }

  /// Ends the file at `offset` followed by `bytes`, unless it already ends like this. Removes the
  /// edits of bytes that are cut off.
  mutating func cut(
    at offset: Int, ending bytes: [UInt8] = [], in file: DamagedFile
  ) throws(FileFailure) {
    let rest = byteCount - offset
    if rest == bytes.count, try file.bytes(at: offset, count: rest) == bytes { return }
    end = offset
    ending = bytes
    edits.removeAll { $0.range.upperBound > offset }
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
}

extension FileRepair {
  /// Writes the repaired file of `finding` to `path` and leaves the original unchanged. `isStopped`
  /// is called repeatedly with the part done, from 0 to 1, and stops the repair if it returns true.
  ///
  /// Throws `.interrupted` if it was stopped, `.unusableContents` if the repaired file cannot be
  /// played, `.cannotCreate` if the file exists and `overwrite` is false, `.permissionDenied`,
  /// `.diskFull`, `.writeFailed` or `.readFailed`. No new file is left then, and an existing file
  /// is unchanged.
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
    let repaired = try mapSystemError(try LocalFile(duplicating: number, name: path)) {
      .opening(path, $0)
    }
    try RepairCheck.check(finding) { repaired }
    try draft.publish()
  }

  /// Repairs the file itself. Writes only the bytes that must change, the outermost last, so that a
  /// kill in between leaves the file no worse than before.
  ///
  /// Throws `.invalidRequest` if bytes would have to move, `.permissionDenied` for a read-only
  /// file, `.cannotOpen` if its length has changed since it was examined, `.unusableContents` if
  /// the repaired file could not be read, `.diskFull` or `.writeFailed`.
  public static func repairInPlace(_ finding: RepairFinding) throws(FileFailure) {
    let plan = finding.plan
    let path = finding.path
    guard plan.fitsInPlace else {
      throw FileFailure(
        .invalidRequest,
        "\(path) has no room for what its header must say: only a copy can be mended.",
        hint: "Mend a copy.", remedy: .repairCopy)
    }
    // The administrator may write every file, but this one is marked as read-only.
    if let status = try? FileSystem.status(of: path), status.st_mode & 0o222 == 0 {
      throw .creating(path, SystemError(number: EACCES))
    }
    // This precedes any write, because bytes that are cut off could not be restored.
    try RepairCheck.check(finding) { () throws(FileFailure) in try RepairedBytes(plan, path) }
    let before = try originals(plan, path)
    var isUndone = true
    do throws(SystemError) {
      let file = try FileDescriptor(opening: path, O_WRONLY)
      try file.lock()
      guard try file.status.byteCount == plan.byteCount else { throw SystemError(number: EAGAIN) }
      do throws(SystemError) {
        try repair(file, plan)
      } catch {
        isUndone = restore(before, plan, in: file)
        throw error
      }
    } catch {
      throw repairFailure(path, error, isUndone: isUndone)
    }
  }

  private static func fileInUse(_ path: String) -> FileFailure {
    FileFailure(.cannotOpen, "\(path) is still being written.", hint: "Wait until it is complete.")
  }

  private static func repairFailure(
    _ path: String, _ error: SystemError, isUndone: Bool
  ) -> FileFailure {
    switch error.number {
    case EAGAIN: fileInUse(path)
    case ENOSPC, EDQUOT, EIO, EFBIG:
      .writing(
        path, error,
        saved: isUndone
          ? "what it held before" : "all its sound, but its header is mended in part only")
    default: .creating(path, error)
    }
  }

  private static func repair(
    _ file: borrowing FileDescriptor, _ plan: RepairPlan
  ) throws(SystemError) {
    let grows = plan.repairedByteCount > plan.byteCount
    if grows { try end(file, plan) }
    for edit in plan.edits {
      try OutputBytes.write(edit.bytes, at: edit.range.lowerBound, to: file.number)
      // The disk may still become full for data that is not on it yet.
      try OutputBytes.synchronize(file.number)
    }
    if !grows { try end(file, plan) }
  }

  /// Returns the original bytes that will change, in the order in which they are restored.
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

  /// Restores the original file; returns whether this was possible.
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
    if plan.repairedByteCount < plan.byteCount { try file.truncate(to: plan.repairedByteCount) }
    try OutputBytes.synchronize(file.number)
  }

  private static func copy(
    _ finding: RepairFinding, to file: borrowing FileDescriptor, calling path: String,
    _ isStopped: (_ done: Double) -> Bool
  ) throws(FileFailure) {
    let plan = finding.plan
    let source = try DamagedFile(finding.path)
    guard source.byteCount == plan.byteCount else {
      throw fileInUse(finding.path)
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

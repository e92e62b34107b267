import Glibc

/// The writing of a repaired file: a new one, or the bytes of the file itself that must change.
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

  private static func repairFailure(
    _ path: String, _ error: SystemError, isUndone: Bool
  ) -> FileFailure {
    switch error.number {
    case EAGAIN: .stillWritten(path)
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
      throw .stillWritten(finding.path)
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

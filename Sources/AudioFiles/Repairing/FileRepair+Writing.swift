import Glibc

extension FileRepair {
  /// Writes what `finding` found, mended, to `path`, and leaves the file itself alone. `isStopped` is
  /// asked again and again whether it is to be stopped, and told how much of it is there, of 1.
  ///
  /// Throws `.interrupted` then, `.cannotCreate` where there is such a file, unless `overwrite`, `.permissionDenied`,
  /// `.diskFull`, `.writeFailed` or `.readFailed`; nothing is left behind then, and a file that was to
  /// be overwritten is as it was.
  public static func write(
    _ finding: RepairFinding, to path: String, overwrite: Bool,
    isStopped: (_ done: Double) -> Bool = { _ in false }
  ) throws(FileFailure) {
    guard !SoundFileReader.isSame(path, finding.path) else {
      throw FileFailure(
        .cannotCreate, "\(path) is the damaged file itself.",
        hint: "Choose another name, or use --in-place.")
    }
    let draft = try DraftFile(for: path, overwrite: overwrite)
    try copy(finding, to: draft.descriptor, calling: path, isStopped)
    try draft.publish()
  }

  /// Mends the file itself: only the bytes that must change are written, the outermost last, so that a
  /// kill in between leaves it no worse than it was.
  ///
  /// Throws `.invalidRequest` where bytes would have to move, `.permissionDenied` for a file that is
  /// read-only, `.cannotOpen` where it has changed since it was looked at, `.diskFull` or
  /// `.writeFailed`.
  public static func mendInPlace(_ finding: RepairFinding) throws(FileFailure) {
    let plan = finding.plan
    let path = finding.path
    guard plan.fitsInPlace else {
      throw FileFailure(
        .invalidRequest,
        "\(path) has no room for what its header must say: only a copy can be mended.",
        hint: "Leave --in-place out.")
    }
    // The administrator may write everything, but the file is marked as read-only.
    if let status = try? FileSystem.status(of: path), status.st_mode & 0o222 == 0 {
      throw .creating(path, SystemError(number: EACCES))
    }
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

  private static func unmended(
    _ path: String, _ error: SystemError, isUndone: Bool
  ) -> FileFailure {
    switch error.number {
    case EAGAIN:
      FileFailure(
        .cannotOpen, "\(path) is still being written.", hint: "Wait until it is complete.")
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
  ) throws(FileFailure) -> [(place: Int, bytes: [UInt8])] {
    let file = try DamagedFile(path)
    let covered = min(plan.ending.count, max(0, plan.byteCount - plan.end))
    var originals = [(place: plan.end, bytes: try file.bytes(at: plan.end, count: covered))]
    for edit in plan.edits.reversed() {
      let bytes = try file.bytes(at: edit.range.lowerBound, count: edit.range.count)
      originals.append((place: edit.range.lowerBound, bytes: bytes))
    }
    return originals
  }

  /// Makes the file what it was; whether that was possible.
  private static func restore(
    _ originals: [(place: Int, bytes: [UInt8])], _ plan: RepairPlan,
    in file: borrowing FileDescriptor
  ) -> Bool {
    do throws(SystemError) {
      guard try file.status.byteCount >= plan.byteCount else { return false }
      for original in originals {
        try OutputBytes.write(original.bytes, at: original.place, to: file.number)
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
      throw FileFailure(
        .cannotOpen, "\(finding.path) is still being written.", hint: "Wait until it is complete.")
    }
    var output = 0
    var place = 0
    for edit in plan.edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      try copy(source, place..<edit.range.lowerBound, to: file, at: &output, path, isStopped)
      try put(edit.bytes, to: file, at: &output, path)
      place = edit.range.upperBound
    }
    try copy(source, place..<plan.end, to: file, at: &output, path, isStopped)
    try put(plan.ending, to: file, at: &output, path)
    let number = file.number
    try telling(try OutputBytes.synchronize(number)) { unwritten(path, $0) }
  }

  private static func copy(
    _ source: DamagedFile, _ range: Range<Int>, to file: borrowing FileDescriptor,
    at output: inout Int, _ path: String, _ isStopped: (_ done: Double) -> Bool
  ) throws(FileFailure) {
    var place = range.lowerBound
    while place < range.upperBound {
      let done = Double(place) / Double(source.byteCount)
      guard !isStopped(min(done, 1)) else { throw .interrupted(path) }
      let bytes = try source.bytes(at: place, count: min(1_048_576, range.upperBound - place))
      guard !bytes.isEmpty else {
        throw .reading(source.path, SystemError(number: EIO))
      }
      try put(bytes, to: file, at: &output, path)
      place += bytes.count
    }
  }

  private static func put(
    _ bytes: [UInt8], to file: borrowing FileDescriptor, at output: inout Int, _ path: String
  ) throws(FileFailure) {
    let (number, place) = (file.number, output)
    try telling(try OutputBytes.write(bytes, at: place, to: number)) { unwritten(path, $0) }
    output += bytes.count
  }

  private static func unwritten(_ path: String, _ error: SystemError) -> FileFailure {
    if error.isFullDisk {
      return FileFailure(
        .diskFull, "The disk is full: \(path) was not written.",
        hint: "Make room, choose another disk with -o, or mend the file --in-place.")
    }
    return FileFailure(
      .writeFailed, "\(path) was not written: \(error.reason).", hint: "Check the disk.")
  }
}

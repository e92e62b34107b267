import Glibc

extension FileRepair {
  /// Writes what `finding` found, mended, to `path`, and leaves the file itself alone.
  ///
  /// Throws `.cannotCreate` where there is such a file, unless `overwrite`, `.permissionDenied`,
  /// `.diskFull`, `.writeFailed` or `.readFailed`; nothing is left behind then, and a file that was to
  /// be overwritten is as it was.
  public static func write(
    _ finding: RepairFinding, to path: String, overwrite: Bool
  ) throws(FileFailure) {
    if let status = FileStatus(of: path) {
      guard !SoundFileReader.isSame(path, finding.path) else {
        throw FileFailure(
          .cannotCreate, "\(path) is the damaged file itself.",
          hint: "Choose another name, or use --in-place.")
      }
      if status.isFolder { throw .creating(path, SystemError(number: EISDIR)) }
      guard overwrite, status.isRegular else {
        throw .creating(path, SystemError(number: EEXIST))
      }
    }
    // It gets its name when it is complete.
    let draft = "\(path).\(getpid()).new"
    do throws(FileFailure) {
      try copy(finding, to: draft, calling: path)
      try name(draft, path, overwrite: overwrite)
    } catch {
      unlink(draft)
      throw error
    }
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
    var status = stat()
    // The administrator may write everything, but somebody has said not to.
    if stat(path, &status) == 0, status.st_mode & 0o222 == 0 {
      throw .creating(path, SystemError(number: EACCES))
    }
    do throws(SystemError) {
      let file = try FileDescriptor(opening: path, O_WRONLY)
      guard try file.status.byteCount == plan.byteCount else { throw SystemError(number: EAGAIN) }
      let grows = plan.mendedByteCount > plan.byteCount
      if grows { try end(file, plan) }
      for edit in plan.edits {
        try write(edit.bytes, at: edit.range.lowerBound, to: file)
        try synchronize(file)
      }
      if !grows { try end(file, plan) }
    } catch {
      switch error.number {
      case EAGAIN:
        throw FileFailure(
          .cannotOpen, "\(path) is still being written.", hint: "Wait until it is complete.")
      case ENOSPC, EDQUOT, EIO, EFBIG:
        throw .writing(path, error, saved: "what it held before")
      default: throw .creating(path, error)
      }
    }
  }

  private static func end(_ file: borrowing FileDescriptor, _ plan: RepairPlan)
    throws(SystemError)
  {
    try write(plan.ending, at: plan.end, to: file)
    if plan.mendedByteCount < plan.byteCount { try file.truncate(to: plan.mendedByteCount) }
    try synchronize(file)
  }

  private static func copy(
    _ finding: RepairFinding, to draft: String, calling path: String
  ) throws(FileFailure) {
    let plan = finding.plan
    let source = try DamagedFile(finding.path)
    guard source.byteCount == plan.byteCount else {
      throw FileFailure(
        .cannotOpen, "\(finding.path) is still being written.", hint: "Wait until it is complete.")
    }
    let file: FileDescriptor
    do throws(SystemError) {
      file = try FileDescriptor(opening: draft, O_WRONLY | O_CREAT | O_TRUNC)
    } catch {
      throw .creating(path, error)
    }
    var output = 0
    var place = 0
    for edit in plan.edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      try copy(source, place..<edit.range.lowerBound, to: file, at: &output, path)
      try put(edit.bytes, to: file, at: &output, path)
      place = edit.range.upperBound
    }
    try copy(source, place..<plan.end, to: file, at: &output, path)
    try put(plan.ending, to: file, at: &output, path)
    do throws(SystemError) {
      try synchronize(file)
    } catch {
      throw unwritten(path, error)
    }
  }

  private static func copy(
    _ source: DamagedFile, _ range: Range<Int>, to file: borrowing FileDescriptor,
    at output: inout Int, _ path: String
  ) throws(FileFailure) {
    var place = range.lowerBound
    while place < range.upperBound {
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
    do throws(SystemError) {
      try write(bytes, at: output, to: file)
      output += bytes.count
    } catch {
      throw unwritten(path, error)
    }
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

  private static func write(
    _ bytes: [UInt8], at place: Int, to file: borrowing FileDescriptor
  ) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { memory in
        memory.baseAddress.map {
          pwrite(file.number, $0 + done, memory.count - done, place + done)
        } ?? 0
      }
      if written > 0 { done += written } else if errno != EINTR { throw .last }
    }
  }

  /// What is not on the disk yet may still find it full.
  private static func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) {
    guard fdatasync(file.number) == 0 || errno == EINVAL || errno == EROFS else { throw .last }
  }

  private static func name(_ draft: String, _ path: String, overwrite: Bool) throws(FileFailure) {
    if !overwrite {
      // A link is refused where somebody else was quicker.
      if link(draft, path) == 0 {
        unlink(draft)
        return
      }
      if errno == EEXIST { throw .creating(path, .last) }
    }
    guard rename(draft, path) == 0 else { throw .creating(path, .last) }
  }
}

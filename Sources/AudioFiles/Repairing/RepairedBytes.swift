/// The bytes of a file as they will be after a plan has repaired it in place.
final class RepairedBytes: LocalBytes {
  private let file: LocalFile
  private let plan: RepairPlan

  var name: String { file.name }
  var byteCount: Int? { plan.repairedByteCount }

  /// Opens the file `path` for a plan that `fitsInPlace`. Throws as `LocalFile` does.
  init(_ plan: RepairPlan, _ path: String) throws(FileFailure) {
    file = try LocalFile(path: path)
    self.plan = plan
  }

  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    guard offset < plan.end else {
      let rest = plan.ending.dropFirst(offset - plan.end).prefix(bytes.count)
      bytes.copyBytes(from: rest)
      return rest.count
    }
    let room = min(bytes.count, plan.end - offset)
    let count = try file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<room]), at: offset)
    for edit in plan.edits {
      for position in edit.range.clamped(to: offset..<offset + count) {
        bytes[position - offset] = edit.bytes[position - edit.range.lowerBound]
      }
    }
    return count
  }
}

import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders

/// A file to be repaired, as bytes that a test damages.
struct BrokenFile {
  let path: String
  var bytes: [UInt8]

  /// Writes an intact sound file to `name` in `folder`.
  init(
    _ folder: TemporaryFolder, _ name: String, _ fileFormat: FileFormat,
    _ sampleFormat: FileSampleFormat, frames: Int, channels: Int = 2
  ) throws {
    let sound = integers(bits: 16, frames: frames, channels: channels)
    try save(sound, to: folder(name), fileFormat, sampleFormat)
    self.init(reading: folder(name))
  }

  init(reading path: String) {
    self.path = path
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
    _ = pread(descriptor, &bytes, bytes.count, 0)
  }

  /// Returns the first position of `word`.
  func place(of word: String) -> Int {
    let letters = Array(word.utf8)
    return bytes.indices.first { bytes[$0...].starts(with: letters) } ?? 0
  }

  mutating func set(_ new: [UInt8], at place: Int) {
    bytes.replaceSubrange(place..<place + new.count, with: new)
  }

  /// Writes the damaged bytes to the disk.
  func store() {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    _ = Glibc.write(descriptor, bytes, bytes.count)
  }

  /// Repairs the file in place and as a copy. Returns the finding and the repaired samples; nil if
  /// the two repairs differ, if writing the copy changed the file, or if the result is not intact.
  func repair() throws -> (finding: RepairFinding, samples: [Float])? {
    store()
    let finding = try FileRepair.examine(path)
    let copy = path + "-repaired"
    try FileRepair.write(finding, to: copy, overwrite: true)
    defer { unlink(copy) }
    guard BrokenFile(reading: path).bytes == bytes else { return nil }
    if !finding.needsCopy {
      try FileRepair.repairInPlace(finding)
      guard BrokenFile(reading: path).bytes == BrokenFile(reading: copy).bytes else { return nil }
    }
    guard try FileRepair.examine(copy).isIntact else { return nil }
    return (finding, try load(copy))
  }
}

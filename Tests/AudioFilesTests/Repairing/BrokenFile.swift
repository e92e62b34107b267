import AudioBasics
import AudioFiles
import Glibc

/// A file on its way to be mended, as bytes that a test breaks.
struct BrokenFile {
  let path: String
  var bytes: [UInt8]

  /// A sound written to `name` in `folder`, whole so far.
  init(
    _ folder: borrowing TemporaryFolder, _ name: String, _ fileFormat: FileFormat,
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

  /// Where `word` stands first.
  func place(of word: String) -> Int {
    let letters = Array(word.utf8)
    return bytes.indices.first { bytes[$0...].starts(with: letters) } ?? 0
  }

  mutating func set(_ new: [UInt8], at place: Int) {
    bytes.replaceSubrange(place..<place + new.count, with: new)
  }

  /// Puts the broken bytes on the disk.
  func store() {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    _ = Glibc.write(descriptor, bytes, bytes.count)
  }

  /// Mends it both ways and answers with what it holds then; nil where the two differ, the file was
  /// changed by the copy, or what is mended is not sound.
  func mend() throws -> (finding: RepairFinding, samples: [Float])? {
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

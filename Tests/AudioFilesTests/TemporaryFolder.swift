import AudioBasics
import AudioFiles
import Glibc

/// A folder for the files of one test, removed with its owner.
struct TemporaryFolder: ~Copyable {
  let path: String

  init() {
    var name = Array("/tmp/duplex-files-XXXXXX".utf8CString)
    mkdtemp(&name)
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of the files in the folder.
  var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func write(_ bytes: [UInt8], to name: String) {
    let descriptor = open(self(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  func bytes(of name: String) -> [UInt8] {
    let descriptor = open(self(name), O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
    _ = pread(descriptor, &bytes, bytes.count, 0)
    return bytes
  }
}

/// Returns integers of `bits` bits, taken with an odd step that reaches each of them within a
/// period, as fractions of full scale.
func integers(bits: Int, frames: Int, channels: Int) -> SampleBuffer {
  var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
  let half = 1 << (bits - 1)
  for index in 0..<buffer.sampleCount {
    let value = (index &* 12_345_677 &+ half) & (2 * half - 1)
    buffer[index] = Float(value - half) / Float(half)
  }
  return buffer
}

/// Writes all of `buffer` to a file.
func save(
  _ buffer: borrowing SampleBuffer, to path: String, _ fileFormat: FileFormat,
  _ sampleFormat: FileSampleFormat, sampleRate: Int = 48000, speakers: [Speaker]? = nil
) throws {
  var writer = try SoundFileWriter(
    path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
    channelCount: buffer.channelCount, overwrite: false, speakers: speakers)
  try writer.write(buffer, frames: buffer.frameCount)
  try writer.finish()
}

/// Returns all samples of a file.
func load(_ path: String) throws -> [Float] {
  let decoder = try Decoding.decoder(forPath: path)
  var buffer = SampleBuffer(frameCount: 777, channelCount: decoder.channelCount)
  var samples: [Float] = []
  while true {
    let count = try decoder.read(into: &buffer, at: 0, frames: 777)
    if count == 0 { return samples }
    for index in 0..<count * decoder.channelCount { samples.append(buffer[index]) }
  }
}

func samples(of reader: inout SoundFileReader) throws -> [Float] {
  var buffer = SampleBuffer(frameCount: 777, channelCount: reader.channelCount)
  var samples: [Float] = []
  while true {
    let count = try reader.read(into: &buffer)
    if count == 0 { return samples }
    for index in 0..<count * reader.channelCount { samples.append(buffer[index]) }
  }
}

func list(_ buffer: borrowing SampleBuffer) -> [Float] {
  (0..<buffer.sampleCount).map { buffer[$0] }
}

/// Returns the failure that `work` throws.
func failure(_ work: () throws -> Void) -> FileFailure? {
  do {
    try work()
    return nil
  } catch {
    return error as? FileFailure
  }
}

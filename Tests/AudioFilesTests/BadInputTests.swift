import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import TestSources
import Testing

@Suite struct BadInputTests {
  let folder = TemporaryFolder()

  private func kind(_ path: String) -> FileFailure.Kind? {
    failure { _ = try SoundFileReader(path: path) }?.kind
  }

  @Test func `a missing file and a folder cannot be opened`() {
    #expect(kind(folder("none.wav")) == .cannotOpen)
    #expect(kind(folder("none/none.wav")) == .cannotOpen)
    #expect(kind(folder.path) == .cannotOpen)
  }

  @Test(.enabled(if: getuid() != 0)) func `a file that may not be read is denied`() throws {
    folder.write([1], to: "secret.wav")
    chmod(folder("secret.wav"), 0)
    #expect(kind(folder("secret.wav")) == .permissionDenied)
  }

  @Test func `an empty file and a text file are unusable, and the message names them`() {
    folder.write([], to: "empty.wav")
    folder.write(Array("Dear diary, today it rained.".utf8), to: "text.wav")
    let files = [("empty.wav", FileFailure.Kind.unusableContents), ("text.wav", .unknownContents)]
    for (name, kind) in files {
      let trouble = failure { _ = try SoundFileReader(path: folder(name)) }
      #expect(trouble?.kind == kind)
      #expect(trouble?.message.contains(folder(name)) == true)
    }
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf, .flac, .ogg])
  func `a truncated header is unusable`(format: FileFormat) throws {
    let sound = integers(bits: 16, frames: 1000, channels: 1)
    try save(sound, to: folder("whole"), format, format.nearest(to: .s16))
    folder.write(Array(folder.bytes(of: "whole").prefix(30)), to: "cut")
    let trouble = failure { _ = try SoundFileReader(path: folder("cut")) }
    #expect(trouble?.kind == .unusableContents)
    #expect(trouble?.message.contains("cut short") == true)
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf])
  func `truncated audio is read to its end`(format: FileFormat) throws {
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    try save(sound, to: folder("whole"), format, .s16)
    folder.write(Array(folder.bytes(of: "whole").dropLast(400)), to: "cut")
    var reader = try SoundFileReader(path: folder("cut"))
    var buffer = SampleBuffer(frameCount: 1000, channelCount: 2)
    let count = try reader.read(into: &buffer)
    let read = Array(list(buffer).prefix(2 * count))
    #expect(read == Array(list(sound).prefix(read.count)))
    #expect(read.count == 1800)
  }

  @Test(arguments: [FileFormat.wav, .rf64])
  func `a WAV file that is shorter than its header states ends with a failure`(
    format: FileFormat
  ) throws {
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    try save(sound, to: folder("whole"), format, .s16)
    folder.write(Array(folder.bytes(of: "whole").dropLast(400)), to: "cut")
    var reader = try SoundFileReader(path: folder("cut"))
    var buffer = SampleBuffer(frameCount: 1000, channelCount: 2)
    #expect(try reader.read(into: &buffer) == 900)
    var trouble: FileFailure?
    do throws(FileFailure) {
      _ = try reader.read(into: &buffer)
    } catch {
      trouble = error
    }
    #expect(trouble?.kind == .unusableContents)
    #expect(trouble?.message.hasSuffix("cut short after 900 of 1000 frames.") == true)
  }

  @Test func `damage in a FLAC file is reported after the last intact frame`() throws {
    let sound = integers(bits: 16, frames: 20000, channels: 2)
    try save(sound, to: folder("whole"), .flac, .s16)
    var bytes = folder.bytes(of: "whole")
    for index in bytes.count / 2..<bytes.count / 2 + 500 { bytes[index] = 0 }
    folder.write(bytes, to: "hurt")
    var reader = try SoundFileReader(path: folder("hurt"))
    var buffer = SampleBuffer(frameCount: 20000, channelCount: 2)
    #expect(try reader.read(into: &buffer) > 4000)
    #expect(throws: FileFailure.self) { try reader.read(into: &buffer) }
  }

  @Test func `a seek to a missing frame of a truncated FLAC file reports the damage`() throws {
    let sound = integers(bits: 16, frames: 40000, channels: 2)
    try save(sound, to: folder("whole"), .flac, .s16)
    let bytes = folder.bytes(of: "whole")
    folder.write(Array(bytes.prefix(bytes.count / 2)), to: "cut")
    var reader = try SoundFileReader(path: folder("cut"))
    #expect(reader.frameCount == 40000)
    var trouble: FileFailure?
    do throws(FileFailure) {
      try reader.seek(toFrame: 38000)
    } catch {
      trouble = error
    }
    #expect(trouble?.message.contains("damaged or cut short") == true)
  }

  @Test func `a FLAC file that is truncated while it is read ends with a failure`() throws {
    let sound = integers(bits: 16, frames: 100_000, channels: 2)
    try save(sound, to: folder("shrinking"), .flac, .s16)
    var reader = try SoundFileReader(path: folder("shrinking"))
    var buffer = SampleBuffer(frameCount: 1000, channelCount: 2)
    #expect(try reader.read(into: &buffer) == 1000)
    truncate(folder("shrinking"), folder.bytes(of: "shrinking").count / 2)
    var trouble: FileFailure?
    do throws(FileFailure) {
      while try reader.read(into: &buffer) > 0 {}
    } catch {
      trouble = error
    }
    #expect(trouble?.message.contains("cut short after") == true)
  }

  @Test func `the format of a file is determined by its contents and not by its name`() throws {
    let sound = integers(bits: 16, frames: 500, channels: 2)
    try save(sound, to: folder("really-flac.wav"), .flac, .s16)
    let reader = try SoundFileReader(path: folder("really-flac.wav"))
    #expect(reader.fileFormat == .flac)
    #expect(try load(folder("really-flac.wav")) == list(sound))
  }

  @Test(arguments: [0, 0x7FFF_FF00, 0x7FFF_F000, 0xFFFF_FFFF] as [UInt32])
  func `a WAV file without a length is read to its end`(length: UInt32) throws {
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    try save(sound, to: folder("whole.wav"), .wav, .s16)
    var bytes = folder.bytes(of: "whole.wav")
    let field = withUnsafeBytes(of: length.littleEndian) { Array($0) }
    bytes.replaceSubrange(4..<8, with: field)
    let data = bytes.count - 4000 - 4
    bytes.replaceSubrange(data..<data + 4, with: field)
    folder.write(bytes, to: "killed.wav")
    #expect(try load(folder("killed.wav")) == list(sound))
    #expect(try SoundFileReader(path: folder("killed.wav")).frameCount == 1000)
  }

  @Test(arguments: [1 << 62, 1 << 63, .max] as [UInt64])
  func `an RF64 file never has a negative number of frames`(byteCount: UInt64) throws {
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    try save(sound, to: folder("long.wav"), .rf64, .s16)
    var bytes = folder.bytes(of: "long.wav")
    let length = withUnsafeBytes(of: byteCount.littleEndian) { Array($0) }
    bytes.replaceSubrange(28..<36, with: length)
    for source in [nil, MemorySource(bytes)] {
      folder.write(bytes, to: "long.wav")
      guard
        let decoder = try? source.map(Decoding.decoder(for:))
          ?? Decoding.decoder(forPath: folder("long.wav"))
      else { continue }
      #expect(decoder.frameCount.map { $0 >= 0 } ?? true)
    }
  }
}

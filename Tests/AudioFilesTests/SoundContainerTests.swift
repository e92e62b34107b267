import AudioBasics
import TemporaryFolders
import TestSources
import Testing

@testable import AudioFiles

/// Tests of the containers of sound files, and of the members of the WAV family that the library
/// does not write.
@Suite struct SoundContainerTests {
  private let folder = TemporaryFolder()
  private let sound = list(integers(bits: 16, frames: 1000, channels: 2))

  private func big(_ number: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
  }

  /// Returns a BW64 file of `sound` with a marker.
  private func bw64() throws -> [UInt8] {
    let buffer = integers(bits: 16, frames: 1000, channels: 2)
    var writer = try SoundFileWriter(
      path: folder("long.wav"), fileFormat: .rf64, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 2, overwrite: true)
    writer.mark(SoundFileMarker(frame: 500, label: "here"))
    try writer.write(buffer, frames: 1000)
    try writer.finish()
    return Array("BW64".utf8) + folder.bytes(of: "long.wav").dropFirst(4)
  }

  /// Returns a RIFX file of `sound`.
  private func rifx() -> [UInt8] {
    let format = big(1, 2) + big(2, 2) + big(48000) + big(192_000) + big(4, 2) + big(16, 2)
    let samples = sound.flatMap { big(Int(clamping: $0 * 32768), 2) }
    let chunks =
      Array("WAVEfmt ".utf8) + big(format.count) + format + Array("data".utf8)
      + big(samples.count) + samples
    return Array("RIFX".utf8) + big(chunks.count) + chunks
  }

  @Test(arguments: [
    (FileFormat.wav, SoundContainer.riff), (.rf64, .rf64), (.w64, .wave64), (.aiff, .aiff),
    (.caf, .caf), (.flac, .flac), (.ogg, .ogg), (.opus, .ogg),
  ])
  func `a written file begins like its container`(
    format: FileFormat, container: SoundContainer
  ) throws {
    let buffer = integers(bits: 16, frames: 1000, channels: 2)
    try save(buffer, to: folder("whole"), format, format.nearest(to: .s16))
    let head = Array(folder.bytes(of: "whole").prefix(SoundContainer.headByteCount))
    #expect(SoundContainer(head: head) == container)
    #expect(SoundContainer(beginning: Array(head.prefix(4))) == container)
  }

  @Test func `a container without sound is no sound file`() {
    let film = Array("RIFF".utf8) + big(100) + Array("AVI LIST".utf8) + big(0, 8)
    #expect(SoundContainer(head: film) == nil)
    #expect(SoundContainer(beginning: film) == .riff)
    #expect(SoundContainer(head: Array("RIFF".utf8)) == nil)
    #expect(SoundContainer(head: []) == nil)
  }

  @Test(arguments: [true, false]) func `BW64 is read and named`(isSeekable: Bool) throws {
    var reader = try SoundFileReader(bytes: MemorySource(try bw64(), isSeekable: isSeekable))
    #expect(try samples(of: &reader) == sound)
    guard isSeekable else { return }
    #expect(reader.formatName == "BW64" && reader.frameCount == 1000)
    #expect(reader.markers == [SoundFileMarker(frame: 500, label: "here")])
    try reader.seek(toFrame: 700)
    #expect(try samples(of: &reader) == Array(sound[1400...]))
  }

  @Test func `a torn BW64 file is repaired and remains BW64`() throws {
    let whole = try bw64()
    let data = try #require(WaveChunks(folder.bytes(of: "long.wav")).only("data"))
    folder.write(Array(whole.prefix(data.start + 4 * 600 + 1)), to: "torn.wav")
    let finding = try FileRepair.examine(folder("torn.wav"))
    #expect(finding.frames == 600 && !finding.isIntact)
    try FileRepair.repairInPlace(finding)
    #expect(folder.bytes(of: "torn.wav").starts(with: Array("BW64".utf8)))
    #expect(try FileRepair.examine(folder("torn.wav")).isIntact)
    #expect(try load(folder("torn.wav")) == Array(sound[..<1200]))
  }

  @Test(arguments: [true, false]) func `RIFX is read, and a missing end told`(
    isSeekable: Bool
  ) throws {
    var whole = try SoundFileReader(bytes: MemorySource(rifx(), isSeekable: isSeekable))
    #expect(try samples(of: &whole) == sound)
    let torn = Array(rifx().dropLast(400))
    let reader = try SoundFileReader(bytes: MemorySource(torn, isSeekable: isSeekable))
    #expect(reader.frameCount == 900 && reader.announcedFrameCount == 1000)
  }

  @Test(arguments: ["RIFX", "BW64", ".snd"]) func `a damaged file is named by its container`(
    identifier: String
  ) {
    folder.write(Array(identifier.utf8) + [UInt8](repeating: 1, count: 60), to: "damaged")
    let title = identifier == ".snd" ? "AU" : identifier
    let trouble = failure { _ = try SoundFileReader(path: folder("damaged")) }
    #expect(trouble?.kind == .unusableContents)
    #expect(trouble?.message.contains("begins like \(title), but is damaged") == true)
  }

  @Test func `what cannot be repaired is named`() {
    folder.write(rifx(), to: "x.wav")
    folder.write(Array(".snd".utf8) + big(24) + big(0, 36), to: "x.au")
    for (name, title) in [("x.wav", "RIFX"), ("x.au", "AU")] {
      let trouble = failure { _ = try FileRepair.examine(folder(name)) }
      #expect(trouble?.message == "\(folder(name)) is \(title), which cannot be repaired.")
    }
  }
}

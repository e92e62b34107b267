import AudioBasics
import TemporaryFolders
import Testing

@testable import AudioFiles

/// Tests of the maximum length of each file format.
@Suite struct FileLimitTests {
  private func writer(
    _ folder: TemporaryFolder, _ format: FileFormat, _ samples: FileSampleFormat
  ) throws -> SoundFileWriter {
    try SoundFileWriter(
      path: folder("long.\(format.name)"), fileFormat: format, sampleFormat: samples,
      sampleRate: 48000, channelCount: 2, overwrite: true)
  }

  @Test(arguments: [(FileSampleFormat.s16, 4), (.s24, 6), (.s32, 8)])
  func `the frame limit of an AIFF file is below its 32-bit lengths`(
    samples: FileSampleFormat, frameByteCount: Int
  ) throws {
    let folder = TemporaryFolder()
    let limit = try writer(folder, .aiff, samples).frameLimit
    #expect(limit * frameByteCount <= Int(UInt32.max) - 65536)
    #expect((limit + 1) * frameByteCount > Int(UInt32.max) - 65536)
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .caf, .raw])
  func `other formats may exceed 4 GiB`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    let limit = try writer(folder, format, .s16).frameLimit
    #expect(limit > 1 << 40)
  }

  @Test(
    arguments: [
      (0, 4096, 0), (3, 4096, 12288), (.max, 1, .max), (1 << 62, 4096, .max),
    ] as [(UInt, UInt, Int)])
  func `the free space of a huge disk is limited to the largest integer`(
    blocks: UInt, size: UInt, room: Int
  ) {
    #expect(DiskSpace.byteCount(blocks: blocks, of: size) == room)
  }

  @Test func `the length of a gap is limited to the maximum length of a file`() {
    for (frames, isGap) in [(1, true), (FileBounds.frameCount, true), (0, false), (-1, false)] {
      let marker = SoundFileMarker(frame: 0, label: "\(frames) frames lost")
      #expect(marker.gapFrames == (isGap ? frames : nil))
    }
    for frames in [FileBounds.frameCount + 1, .max] {
      #expect(SoundFileMarker(frame: 0, label: "\(frames) frames lost").gapFrames == nil)
    }
  }

  @Test(arguments: [
    (FileFormat.wav, [SoundFileTags.Loss.zero, .length]),
    (.flac, [.zero]), (.aiff, [.zero, .text("album"), .text("date")]), (.mp3, [.zero, .date]),
  ])
  func `tags that a format cannot store are reported`(
    format: FileFormat, losses: [SoundFileTags.Loss]
  ) {
    var tags = SoundFileTags()
    tags.artist = "Nobody"
    #expect(tags.losses(in: format) == [])
    tags.title = "A\u{0}B"
    tags.album = "An album"
    tags.comment = String(repeating: "x", count: 700)
    tags.date = "2026-11-27"
    #expect(Set(tags.losses(in: format)) == Set(losses))
    #expect(tags.fitting(format).losses(in: format).allSatisfy { $0 != .date && $0 != .zero })
    tags = SoundFileTags()
    tags.date = "2026"
    #expect(tags.losses(in: format) == (format == .aiff ? [.text("date")] : []))
  }

  @Test func `frames beyond the limit of a format are refused, and the file is complete`() throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 7000, channels: 2)
    var writer = try writer(folder, .aiff, .s16)
    writer.frameLimit = 6001
    var failure: FileFailure?
    do throws(FileFailure) {
      try writer.write(sound, frames: 7000)
    } catch {
      failure = error
    }
    #expect(failure?.kind == .writeFailed)
    let written = writer.framesWritten
    #expect(written == 6001)
    try writer.finish()
    #expect(try load(folder("long.aiff")).count == 2 * 6001)
  }
}

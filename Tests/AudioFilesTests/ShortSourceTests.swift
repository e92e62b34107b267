import AudioBasics
import TemporaryFolders
import TestSources
import Testing

@testable import AudioFiles

/// Tests of a source of a program that ends before the byte count that it states.
@Suite struct ShortSourceTests {
  private struct Outcome {
    var frames = 0
    var failure: FileFailure?
  }

  /// Decodes a file of 96,000 frames whose last third is missing.
  private func decoded(_ format: FileFormat) throws -> Outcome {
    let folder = TemporaryFolder()
    try save(
      glide(frames: 96000, channels: 2), to: folder("whole"), format, format.sampleFormats[0])
    let contents = folder.bytes(of: "whole")
    let source = MemorySource(contents, missingByteCount: contents.count / 3)
    var outcome = Outcome()
    do throws(FileFailure) {
      let decoder = try Decoding.decoder(for: source)
      var buffer = SampleBuffer(frameCount: 1024, channelCount: 2)
      while true {
        let count = try decoder.read(into: &buffer, at: 0, frames: 1024)
        if count == 0 { break }
        outcome.frames += count
      }
    } catch {
      outcome.failure = error
    }
    return outcome
  }

  @Test(arguments: FileFormat.allCases.filter { $0 != .raw })
  func `it is played up to there, and its end is an error`(format: FileFormat) throws {
    let outcome = try decoded(format)
    let failure = try #require(outcome.failure)
    #expect(failure.kind == .unusableContents)
    #expect(failure.message.contains("cut short"), "\(failure.message)")
    #expect(outcome.frames < 70_000)
    // The end of an Ogg file is read when it is opened, for its length.
    if format != .ogg, format != .opus { #expect(outcome.frames > 50_000) }
  }

  @Test func `a source that was only interrupted is asked again`() throws {
    let contents = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
    let source = MemorySource(contents)
    let bytes = BufferedBytes(source)
    source.interrupt(behind: 20_000)
    var target = [UInt8](repeating: 0, count: 50_000)
    let first = try target.withUnsafeMutableBytes { try bytes.read(into: $0) }
    #expect(first < 50_000 && bytes.wasInterrupted && !bytes.endsEarly)
    try bytes.checkByteCount()
    source.proceed()
    bytes.recover()
    let second = try target.withUnsafeMutableBytes { try bytes.read(into: $0) }
    #expect(first + second == 50_000 && !bytes.wasInterrupted && !bytes.endsEarly)
  }

  @Test func `where it ends is told, and how much there should be`() throws {
    let bytes = BufferedBytes(MemorySource([1, 2, 3, 4, 5], missingByteCount: 2))
    #expect(try bytes.bytes(at: 0, count: 5) == [1, 2, 3])
    #expect(bytes.endsEarly && !bytes.wasInterrupted)
    let found = failure { try bytes.checkByteCount() }
    #expect(found?.message == "the source is cut short: it ends after 3 of 5 bytes.")
  }
}

import AudioBasics
import Glibc
import TemporaryFolders
import Testing

@testable import AudioFiles

/// Tests of a writer whose file is complete: the number of its descriptor may belong to another
/// file.
@Suite struct CompleteFileTests {
  private static let message = "The file is complete."

  /// Opens `path` as often as it takes to get the descriptor number `number`. Returns the
  /// descriptors.
  private func reuse(_ number: Int32, by path: String) -> [Int32] {
    var opened: [Int32] = []
    while opened.last != number {
      opened.append(open(path, O_RDWR | O_CREAT, 0o600))
      guard let last = opened.last, last >= 0, last <= number else { break }
    }
    return opened
  }

  @Test(arguments: FileFormat.allCases)
  func `nothing is written into the file that has its descriptor now`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    folder.write(Array(repeating: 7, count: 100_000), to: "other")
    var writer = try SoundFileWriter(
      path: folder("take"), fileFormat: format, sampleFormat: format.sampleFormats[0],
      sampleRate: 48000, channelCount: 2, overwrite: false)
    let sound = SampleBuffer(frameCount: 4800, channelCount: 2)
    try writer.write(sound, frames: 4800)
    let number = writer.sink.descriptor
    try writer.complete()
    let take = folder.bytes(of: "take")
    // Another test that runs at the same time may take the number first.
    let opened = reuse(number, by: folder("other"))
    defer { for descriptor in opened { close(descriptor) } }

    let sink = writer.sink
    #expect(failure { try writer.write(sound, frames: 4800) }?.message == Self.message)
    #expect(failure { try writer.refreshHeader() }?.message == Self.message)
    #expect(failure { try writer.synchronize() }?.kind == .invalidRequest)
    #expect(failure { try writer.restore(as: folder("copy")) }?.message == Self.message)
    writer.mark(SoundFileMarker(frame: 10, label: "late"))
    writer.abandon()
    let isUnknown = writer.byteCount == nil && writer.newName == nil
    let isUntouched = !writer.isDeleted && !writer.isModifiedByOthers
    #expect(isUnknown && isUntouched)
    try writer.complete()
    #expect(throws: SystemError.self) { try sink.refresh() }
    #expect(throws: SystemError.self) { try sink.synchronize() }
    try writer.finish()

    #expect(folder.bytes(of: "other") == Array(repeating: 7, count: 100_000))
    #expect(folder.bytes(of: "take") == take)
    #expect(sink.frameCount > 0)
  }

  @Test(arguments: [0, 1, 5]) func `each channel has one speaker, or none is named`(count: Int) {
    let folder = TemporaryFolder()
    let found = failure {
      _ = try SoundFileWriter(
        path: folder("take.wav"), fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
        channelCount: 4, overwrite: false,
        speakers: [Speaker](repeating: .frontCentre, count: count))
    }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.message.contains("\(count) speakers") == true)
    #expect(!SoundFileReader.exists(folder("take.wav")))
  }

  @Test func `a file without a name is refused with a sentence about that`() {
    let found = failure {
      _ = try SoundFileWriter(
        path: "", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 1,
        overwrite: true)
    }
    #expect(found?.kind == .cannotCreate)
    #expect(found?.message == "The name of the file is empty.")
  }
}

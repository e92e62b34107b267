import AudioBasics
import TemporaryFolders
import TestSources
import Testing

@testable import AudioFiles

/// Tests of reading a whole sound into one buffer.
@Suite struct WholeSoundTests {
  private let folder = TemporaryFolder()

  /// A decoder of the numbers from 1 on, in pieces of 1777 frames.
  private final class Numbers: PlainSoundDecoder {
    let name = "numbers"
    let sampleRate = 48000
    let channelCount = 1
    let frameCount: Int?
    let isLengthEstimated: Bool
    let supportsSeeking = false
    let count: Int
    private(set) var position = 0
    private(set) var isInterrupted = false
    var interruptsBehind = Int.max

    init(_ count: Int, stated: Int?, isEstimated: Bool = false) {
      self.count = count
      frameCount = stated
      isLengthEstimated = isEstimated
    }

    func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
      if position >= interruptsBehind { isInterrupted = true }
      let done = isInterrupted ? 0 : min(frames, count - position, 1777)
      for frame in 0..<done { buffer[target + frame] = Float(position + frame + 1) }
      position += done
      return done
    }

    func seek(toFrame frame: Int) throws(FileFailure) { throw .onlyForward(name) }
    func interrupt() { isInterrupted = true }
    func proceed() { isInterrupted = false }
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf, .flac])
  func `a file is read exactly, up to its length`(format: FileFormat) throws {
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    try save(sound, to: folder("sound"), format, .s16)
    for limit in [1000, 1001, Int.max] {
      var reader = try SoundFileReader(path: folder("sound"))
      #expect(list(try reader.readAll(maximumFrames: limit)) == list(sound))
      #expect(try reader.readAll(maximumFrames: limit).frameCount == 0)
      let decoder = try Decoding.decoder(forPath: folder("sound"))
      #expect(list(try decoder.readAll(maximumFrames: limit)) == list(sound))
    }
  }

  @Test(arguments: [999, 0, -1, Int.min])
  func `a longer file is refused before anything is read`(limit: Int) throws {
    try save(integers(bits: 16, frames: 1000, channels: 2), to: folder("sound"), .wav, .s16)
    var reader = try SoundFileReader(path: folder("sound"))
    let trouble = failure { _ = try reader.readAll(maximumFrames: limit) }
    #expect(trouble?.kind == .invalidRequest)
    #expect(trouble?.message.hasSuffix("sound has more than \(max(0, limit)) frames.") == true)
    #expect(reader.position == 0)
  }

  @Test func `the rest of a file is read from its position on`() throws {
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    try save(sound, to: folder("sound"), .wav, .s16)
    var reader = try SoundFileReader(path: folder("sound"))
    try reader.seek(toFrame: 400)
    #expect(list(try reader.readAll(maximumFrames: 600)) == Array(list(sound)[800...]))
  }

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000], [false, true])
  func `a source that does not state its length is read to its end, or to the limit`(
    count: Int, isEstimated: Bool
  ) throws {
    func numbers() -> Numbers {
      Numbers(count, stated: isEstimated ? 7 : nil, isEstimated: isEstimated)
    }
    let expected = (0..<count).map { Float($0 + 1) }
    for limit in [count, count + 1, Int.max] {
      #expect(list(try numbers().readAll(maximumFrames: limit)) == expected)
    }
    guard count > 0 else { return }
    #expect(
      failure { _ = try numbers().readAll(maximumFrames: count - 1) }?.kind == .invalidRequest)
  }

  @Test func `missing frames at the end, and an interruption, are failures`() throws {
    try save(integers(bits: 16, frames: 1000, channels: 2), to: folder("whole"), .wav, .s16)
    let bytes = folder.bytes(of: "whole")
    folder.write(Array(bytes.dropLast(400)), to: "cut")
    var cut = try SoundFileReader(path: folder("cut"))
    #expect(failure { _ = try cut.readAll(maximumFrames: 1000) }?.kind == .unusableContents)
    let source = MemorySource(bytes, pieceByteCount: 512)
    var reader = try SoundFileReader(bytes: source)
    source.interrupt()
    #expect(failure { _ = try reader.readAll(maximumFrames: 1000) }?.kind == .interrupted)
    let numbers = Numbers(5000, stated: 5000)
    numbers.interruptsBehind = 3000
    #expect(failure { _ = try numbers.readAll(maximumFrames: 5000) }?.kind == .interrupted)
  }

  @Test func `a stated length for which there is no memory is a failure`() {
    let numbers = Numbers(5000, stated: 1 << 60)
    #expect(failure { _ = try numbers.readAll(maximumFrames: .max) }?.kind == .cannotOpen)
  }

  @Test(arguments: [-1, Int.min])
  func `a decoder that states a negative length is read to its end`(stated: Int) throws {
    let numbers = Numbers(5000, stated: stated)
    #expect(try numbers.readAll(maximumFrames: 5000).frameCount == 5000)
  }
}

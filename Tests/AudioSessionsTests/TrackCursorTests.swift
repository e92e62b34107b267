import AudioBasics
import AudioFiles
import Glibc
import Testing

@testable import AudioSessions

/// What is played of a file, against a plain model in memory: to the bit.
@Suite struct TrackCursorTests {
  /// A file of numbered frames, gone with the test.
  struct NumberedFile: ~Copyable {
    let path: String
    let frames: Int

    init(frames: Int, format: FileFormat) throws {
      path = "/tmp/duplex-cursor-\(UInt64.random(in: 0..<UInt64.max)).\(format.name)"
      self.frames = frames
      var writer = try SoundFileWriter(
        path: path, fileFormat: format, sampleFormat: .s24, sampleRate: 48000, channelCount: 2,
        overwrite: false)
      var buffer = SampleBuffer(frameCount: max(1, frames), channelCount: 2)
      for frame in 0..<frames {
        buffer[2 * frame] = Float(frame) / 8_388_608
        buffer[2 * frame + 1] = -Float(frame) / 8_388_608
      }
      try writer.write(buffer, frames: frames)
      try writer.finish()
    }

    deinit { unlink(path) }
  }

  /// The frame numbers that a track plays, at most `limit` of them.
  private func played(_ path: String, _ order: PlayOrder, limit: Int = .max) throws -> [Int] {
    let track = try Track(path: path, sampleRate: 48000, channelCount: 2, order: order)
    var buffer = SampleBuffer(frameCount: 999, channelCount: 2)
    var numbers: [Int] = []
    while numbers.count < limit {
      let count = try track.read(into: &buffer, frames: 999)
      guard count > 0 else { break }
      for frame in 0..<count {
        let number = Int(clamping: buffer[2 * frame] * 8_388_608)
        let isPair = buffer[2 * frame + 1] == -buffer[2 * frame]
        numbers.append(isPair ? number : -1)
      }
    }
    return Array(numbers.prefix(limit))
  }

  private func model(_ order: PlayOrder, frames: Int, limit: Int = .max) -> [Int] {
    let end = min(frames, order.endFrame ?? frames)
    let once = order.startFrame < end ? Array(order.startFrame..<end) : []
    let turned = order.isReversed ? once.reversed() : once
    var all: [Int] = []
    var times = 0
    while !turned.isEmpty, times < order.times ?? .max, all.count < limit {
      all += turned
      times += 1
    }
    return Array(all.prefix(limit))
  }

  @Test(arguments: [FileFormat.wav, .flac])
  func `any stretch, direction and number of times is what the model says`(format: FileFormat)
    throws
  {
    let file = try NumberedFile(frames: 100_000, format: format)
    var random = SystemRandomNumberGenerator()
    for trial in 0..<60 {
      let start = Int.random(in: 0..<100_000, using: &random)
      let length = [1, 37, 5000, 16384, 16385, 60_000][trial % 6]
      let order = PlayOrder(
        startFrame: start, endFrame: trial % 7 == 0 ? nil : start + length,
        times: trial % 5 == 0 ? nil : 1 + trial % 3, isReversed: trial % 2 == 0)
      let limit = 150_000
      let heard = try played(file.path, order, limit: limit)
      let isRight = heard == model(order, frames: 100_000, limit: limit)
      #expect(isRight, "\(order)")
    }
  }

  @Test func `nothing is nothing, however often`() throws {
    let file = try NumberedFile(frames: 0, format: .wav)
    #expect(try played(file.path, PlayOrder(times: nil)).isEmpty)
    let other = try NumberedFile(frames: 100, format: .wav)
    #expect(try played(other.path, PlayOrder(startFrame: 100, times: nil)).isEmpty)
    #expect(try played(other.path, PlayOrder(startFrame: 500, isReversed: true)).isEmpty)
    #expect(try played(other.path, PlayOrder(times: 0)).isEmpty)
  }

  @Test func `a file that ends before it says plays what there is, and then says so`() throws {
    let file = try NumberedFile(frames: 1000, format: .wav)
    truncate(file.path, 4096 + 6 * 400)
    let track = try Track(path: file.path, sampleRate: 48000, channelCount: 2)
    var buffer = SampleBuffer(frameCount: 999, channelCount: 2)
    var numbers: [Int] = []
    var trouble: FileFailure?
    while trouble == nil {
      do throws(FileFailure) {
        let count = try track.read(into: &buffer, frames: 999)
        guard count > 0 else { break }
        for frame in 0..<count { numbers.append(Int(clamping: buffer[2 * frame] * 8_388_608)) }
      } catch {
        trouble = error
      }
    }
    #expect(trouble?.kind == .unusableContents)
    #expect(numbers.count >= 390 && numbers.count <= 400)
    #expect(numbers == Array(0..<numbers.count))
  }
}

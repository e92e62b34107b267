import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

@testable import AudioSessions

/// Tests of the exact frames played of a file, against a simple model in memory.
@Suite struct TrackCursorTests {
  /// A file of numbered frames, removed with its owner.
  struct NumberedFile {
    private let folder = TemporaryFolder()
    let path: String
    let frames: Int

    init(frames: Int, format: FileFormat) throws {
      path = folder("numbered.\(format.name)")
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
  }

  /// Returns the frame numbers that a track plays, at most `limit` of them.
  private func played(_ path: String, _ range: PlaybackRange, limit: Int = .max) throws -> [Int] {
    let track = try TrackReader(path: path, sampleRate: 48000, channelCount: 2, range: range)
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

  private func model(_ range: PlaybackRange, frames: Int, limit: Int = .max) -> [Int] {
    let end = min(frames, range.endFrame ?? frames)
    let once = range.startFrame < end ? Array(range.startFrame..<end) : []
    let turned = range.isReversed ? once.reversed() : once
    var all: [Int] = []
    var times = 0
    while !turned.isEmpty, times < range.times ?? .max, all.count < limit {
      all += turned
      times += 1
    }
    return Array(all.prefix(limit))
  }

  @Test(arguments: [FileFormat.wav, .flac])
  func `any range, direction and number of passes equals the model`(format: FileFormat)
    throws
  {
    let file = try NumberedFile(frames: 100_000, format: format)
    var random = SystemRandomNumberGenerator()
    for trial in 0..<60 {
      let start = Int.random(in: 0..<100_000, using: &random)
      let length = [5000, 1, 37, 512, 16384, 16385, 60_000][trial % 7]
      let range = PlaybackRange(
        startFrame: start, endFrame: trial % 7 == 0 ? nil : start + length,
        times: trial % 5 == 0 ? nil : 1 + trial % 3, isReversed: trial % 2 == 0)
      let limit = 150_000
      let heard = try played(file.path, range, limit: limit)
      let isRight = heard == model(range, frames: 100_000, limit: limit)
      #expect(isRight, "\(range)")
    }
  }

  @Test func `an empty range has no frames for any number of passes`() throws {
    let file = try NumberedFile(frames: 0, format: .wav)
    #expect(try played(file.path, PlaybackRange(times: nil)).isEmpty)
    let other = try NumberedFile(frames: 100, format: .wav)
    #expect(try played(other.path, PlaybackRange(startFrame: 100, times: nil)).isEmpty)
    #expect(try played(other.path, PlaybackRange(startFrame: 500, isReversed: true)).isEmpty)
    #expect(try played(other.path, PlaybackRange(times: 0)).isEmpty)
  }

  @Test func `a file that ends early plays its frames and then fails`() throws {
    let file = try NumberedFile(frames: 1000, format: .wav)
    truncate(file.path, 4096 + 6 * 400)
    let track = try TrackReader(path: file.path, sampleRate: 48000, channelCount: 2)
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

  @Test(arguments: [(promised: 100_000, frames: 1000), (promised: 1 << 40, frames: 0)])
  func `a length that is not present is not searched backwards endlessly`(
    promised: Int, frames: Int
  ) throws {
    let sound = PromisedSound(promised: promised, frames: 1000)
    let track = try TrackReader(
      sound, sampleRate: 48000, channelCount: 1,
      settings: TrackSettings(range: PlaybackRange(isReversed: true)))
    var buffer = SampleBuffer(frameCount: 2000, channelCount: 1)
    if frames > 0 {
      #expect(try track.read(into: &buffer, frames: 2000) == frames)
    } else {
      #expect(failure { _ = try track.read(into: &buffer, frames: 2000) } == .unusableContents)
    }
  }

  @Test func `lengths and positions beyond every file are handled`() {
    let range = PlaybackRange(startFrame: 1, endFrame: .max, times: 1_000_000_000)
    for promised in [nil, .max, 1 << 62, -1] as [Int?] {
      let path = PlayPath(range, frameCount: promised, entry: .max)
      #expect(path.frameCount == (promised == -1 ? 0 : nil))
      #expect((0...(1 << 52)).contains(path.entry))
    }
    let whole = PlayPath(PlaybackRange(times: 3), frameCount: 1000)
    #expect(whole.frameCount == 3000)
  }

  private func failure(_ work: () throws -> Void) -> FileFailure.Kind? {
    do {
      try work()
      return nil
    } catch {
      return (error as? FileFailure)?.kind
    }
  }
}

/// Silence whose announced length is longer than its real length.
private final class PromisedSound: PlainSoundDecoder {
  let name = "the sound"
  let sampleRate = 48000
  let channelCount = 1
  let frameCount: Int?
  let supportsSeeking = true
  private(set) var position = 0
  private let frames: Int

  init(promised: Int, frames: Int) {
    frameCount = promised
    self.frames = frames
  }

  func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
    let count = max(0, min(frames, buffer.frameCount - target, self.frames - position))
    position += count
    return count
  }

  func seek(toFrame frame: Int) { position = frame }
}

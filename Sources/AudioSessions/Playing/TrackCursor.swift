import AudioBasics
import AudioFiles

/// The frames of one file in playing order: a stretch of it, as often as asked for, forwards or
/// backwards, without a gap. Never more of the file in memory than a block.
///
/// Backwards, blocks are read forwards, the last one first, and turned round. A stretch that is no
/// longer than a block is read once and kept, so that even one of a few frames loops at no cost.
struct TrackCursor: ~Copyable {
  /// Frames of a block.
  static let blockFrames = 16384

  private var file: SoundFileReader
  private let order: PlayOrder
  /// Frames of one time through; nil until the end was met, where the file does not say.
  private var length: Int?
  private var block: SampleBuffer
  /// Which frames of the stretch, counted in playing order, the block holds.
  private var held = 0..<0
  /// The next frame of the stretch in playing order, and times through that are done.
  private var next = 0
  private var done = 0

  /// A cursor at the beginning of `order`. Throws `.unusableContents` where the file cannot be wound
  /// and the order asks for it.
  init(_ file: consuming SoundFileReader, _ order: PlayOrder) throws(FileFailure) {
    let channelCount = file.channelCount
    let frameCount = file.frameCount
    let isSeekable = file.isSeekable
    let path = file.path
    self.file = file
    self.order = order
    length = order.length(of: frameCount)
    block = SampleBuffer(frameCount: Self.blockFrames, channelCount: channelCount)
    let isPlain = order.startFrame == 0 && order.times == 1 && !order.isReversed
    guard isSeekable || isPlain else {
      throw FileFailure(
        .unusableContents, "\(path) can only be played from its beginning to its end.",
        hint: "Save it to a file first.")
    }
    if order.isReversed, length == nil {
      throw FileFailure(
        .unusableContents, "\(path) does not say where it ends, so it cannot be played backwards.",
        hint: "Convert it with sox first.")
    }
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  mutating func read(into buffer: inout SampleBuffer) throws(FileFailure) -> Int {
    while true {
      if length == next {
        done += 1
        next = 0
        // An empty stretch repeats nothing.
        guard length != 0 else { return 0 }
      }
      guard order.times.map({ done < $0 }) ?? true else { return 0 }
      if !held.contains(next) { try load() }
      guard held.contains(next) else {
        // The file ended before it said.
        guard next > 0 || done > 0 else { return 0 }
        guard length != next else { continue }
        length = next
        continue
      }
      let count = min(buffer.frameCount, held.upperBound - next)
      buffer.replace(at: 0, with: block, from: next - held.lowerBound, frames: count)
      next += count
      return count
    }
  }

  /// Reads the block that begins with the next frame in playing order.
  private mutating func load() throws(FileFailure) {
    let wanted = min(Self.blockFrames, (length ?? .max) - next)
    let first: Int
    if order.isReversed, let length {
      first = order.startFrame + length - next - wanted
    } else {
      first = order.startFrame + next
    }
    if file.position != first { try file.seek(toFrame: first) }
    var count = 0
    while count < wanted {
      let some = try file.read(into: &block, at: count, frames: wanted - count)
      guard some > 0 else { break }
      count += some
    }
    held = next..<next + count
    if order.isReversed { block.reverse(frames: count) }
  }
}

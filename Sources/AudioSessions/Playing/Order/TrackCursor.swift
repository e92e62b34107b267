import AudioBasics
import AudioFiles

/// The frames of one decoder in playing order: a stretch of it, as often as asked for, forwards or
/// backwards, without a gap. Never more of it in memory than a block.
///
/// Backwards, blocks are read forwards, the last one first, and turned round. A stretch that is no
/// longer than a block is read once and kept, so that even one of a few frames loops at no cost.
struct TrackCursor: ~Copyable {
  /// Frames of a block.
  static let blockFrames = 16384

  private let decoder: any SoundDecoder
  private(set) var path: PlayPath
  private var block: SampleBuffer
  /// Which frames the block holds; turned round where the order is.
  private var held = 0..<0
  /// Between the last frame and the next one, in the file.
  private var boundary: Int
  private var passes = 0
  /// Blocks in a row, backwards, of which the decoder had nothing.
  private var missingBlocks = 0
  /// Before the end that a file promises, at most: those who only estimate it are nearer than that.
  private static let mostMissingBlocks = 64

  /// A cursor at the beginning of `order`. Throws `.unusableContents` where the decoder cannot seek
  /// and the order asks for it.
  init(_ decoder: any SoundDecoder, _ order: PlayOrder) throws(FileFailure) {
    // What cannot be sought is read over up to where it begins.
    try Self.check(decoder, order, entry: decoder.position)
    self.decoder = decoder
    path = PlayPath(order, frameCount: decoder.frameCount)
    boundary = path.entry
    // A ring full of short files keeps hundreds of these.
    let frames = min(Self.blockFrames, max(1, decoder.frameCount ?? Self.blockFrames))
    block = SampleBuffer(frameCount: frames, channelCount: decoder.channelCount)
  }

  /// Goes on in another order, at the boundary `entry`. Throws as `init` does, and then goes on as
  /// before.
  mutating func follow(_ order: PlayOrder, entry: Int) throws(FileFailure) {
    try Self.check(decoder, order, entry: entry)
    if order.isReversed != path.order.isReversed { held = 0..<0 }
    path = PlayPath(order, frameCount: decoder.frameCount, entry: entry)
    boundary = path.entry
    passes = 0
  }

  private static func check(
    _ decoder: any SoundDecoder, _ order: PlayOrder, entry: Int
  ) throws(FileFailure) {
    let isPlain = order.times == 1 && !order.isReversed && entry == decoder.position
    guard decoder.supportsSeeking || isPlain else {
      throw FileFailure(
        .unusableContents,
        "\(decoder.name) can only be played from its beginning to its end.",
        hint: "Save it to a file first.")
    }
    if order.isReversed, decoder.frameCount == nil {
      throw FileFailure(
        .unusableContents,
        "\(decoder.name) does not say where it ends, so it cannot be played backwards.",
        hint: "Convert it with sox first.")
    }
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  mutating func read(into buffer: inout SampleBuffer) throws(FileFailure) -> Int {
    while path.order.times.map({ passes < $0 }) ?? true {
      let rest = path.order.isReversed ? boundary - path.start : path.end.map { $0 - boundary }
      if let rest, rest <= 0 {
        try checkAnnounced()
        // An empty stretch repeats nothing.
        guard path.length != 0 else { return 0 }
        passes += 1
        boundary = path.order.isReversed ? path.end ?? 0 : path.start
        continue
      }
      if !isHeld, try !load() {
        guard try endEarly() else { return 0 }
        continue
      }
      return take(into: &buffer, atMost: rest ?? .max)
    }
    return 0
  }

  /// A file that has fewer frames than it announces says so behind its last, where more are wanted.
  private mutating func checkAnnounced() throws(FileFailure) {
    guard decoder.announcedFrameCount != nil, let end = decoder.frameCount, path.end == end,
      path.order.endFrame.map({ $0 > end }) ?? true
    else { return }
    held = 0..<0
    guard try approach(end) else { return }
    _ = try decoder.read(into: &block, at: 0, frames: 1)
  }

  /// Whether the next frame is in the block.
  private var isHeld: Bool {
    path.order.isReversed
      ? held.lowerBound < boundary && boundary <= held.upperBound : held.contains(boundary)
  }

  private mutating func take(into buffer: inout SampleBuffer, atMost rest: Int) -> Int {
    let room = min(buffer.frameCount, rest)
    if path.order.isReversed {
      let count = min(room, boundary - held.lowerBound)
      buffer.replace(at: 0, with: block, from: held.upperBound - boundary, frames: count)
      boundary -= count
      return count
    }
    let count = min(room, held.upperBound - boundary)
    buffer.replace(at: 0, with: block, from: boundary - held.lowerBound, frames: count)
    boundary += count
    return count
  }

  /// Reads the block that has the next frame. False where there is none.
  private mutating func load() throws(FileFailure) -> Bool {
    let isReversed = path.order.isReversed
    let first = isReversed ? max(path.start, boundary - block.frameCount) : boundary
    let wanted =
      isReversed ? boundary - first : min(block.frameCount, (path.end ?? .max) - boundary)
    held = 0..<0
    guard try approach(first) else { return false }
    var count = 0
    while count < wanted {
      do throws(FileFailure) {
        let some = try decoder.read(into: &block, at: count, frames: wanted - count)
        guard some > 0 else { break }
        count += some
      } catch {
        // What came before is played first; the next read says so again.
        guard count > 0, !isReversed else { throw error }
        break
      }
    }
    held = first..<first + count
    if isReversed {
      block.reverse(frames: count)
      boundary = first + count
    }
    if count > 0 { missingBlocks = 0 }
    return count > 0
  }

  /// Goes to the frame `first`: by reading over what lies before it, where the decoder cannot seek.
  /// False where it ends before.
  private mutating func approach(_ first: Int) throws(FileFailure) -> Bool {
    guard decoder.position != first else { return true }
    guard !decoder.supportsSeeking else {
      try decoder.seek(toFrame: first)
      return true
    }
    while decoder.position < first {
      let wanted = min(block.frameCount, first - decoder.position)
      guard try decoder.read(into: &block, at: 0, frames: wanted) > 0 else { return false }
    }
    return decoder.position == first
  }

  /// The file ended before it said. False where nothing of it is left to play. Throws
  /// `.unusableContents` where its end is too far before.
  private mutating func endEarly() throws(FileFailure) -> Bool {
    if decoder.isInterrupted { return false }
    if path.order.isReversed {
      missingBlocks += 1
      guard missingBlocks < Self.mostMissingBlocks else {
        throw FileFailure(
          .unusableContents, "\(decoder.name) ends long before it says.",
          hint: "Play it forwards, or convert it with sox first.")
      }
      return boundary > path.start
    }
    guard boundary > path.start, path.end != boundary else { return false }
    path.shorten(to: boundary)
    return true
  }
}

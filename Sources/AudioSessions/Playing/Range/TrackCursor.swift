import AudioBasics
import AudioFiles

/// The frames of one decoder in playing order: a range of it, as often as requested, forwards or
/// backwards, without a gap. At most one block of it is in memory.
///
/// Forwards it decodes directly into the destination. Backwards, blocks are read forwards, the last
/// one first, and reversed. A repeated range that is no longer than a block is read once and kept;
/// a short one is repeated within the block, so that even a loop of a few frames needs little time.
struct TrackCursor: ~Copyable {
  /// The number of frames of a block.
  static let blockFrames = 16384
  /// The largest length of a range that is repeated within the block, and of all its copies, in
  /// frames.
  private static let shortFrames = 512
  private static let copiedFrames = 2048

  private let decoder: any SoundDecoder
  /// Whether the decoder returns only integers, none of which can be NaN or infinite.
  let readsIntegers: Bool
  private let downmix: StereoDownmix?
  private(set) var path: PlayPath
  /// The block, allocated when it is first needed.
  private var block: SampleBuffer
  private let blockFrames: Int
  /// The range of frames in the block; in reverse order if the playback is reversed.
  private var held = 0..<0
  /// The number of consecutive copies of these frames in the block: more than one only if they are
  /// a whole pass.
  private var copies = 1
  /// The boundary in the file between the last frame and the next one.
  private var boundary: Int
  private var passes = 0
  /// The number of consecutive blocks, in reverse direction, for which the decoder returned no
  /// frames.
  private var missingBlocks = 0
  /// The largest number of such blocks before the stated end of a file: the actual end of a file
  /// with an estimated length is nearer than that.
  private static let maximumMissingBlocks = 64

  /// Creates a cursor at the beginning of `range`, for buffers of `channelCount` channels. Throws
  /// `.unusableContents` if the decoder cannot seek and the range requires it.
  init(
    _ decoder: any SoundDecoder, _ range: PlaybackRange, channelCount: Int
  ) throws(FileFailure) {
    // A decoder that cannot seek is read up to the start of the range.
    try Self.check(decoder, range, entry: decoder.position)
    if range.isReversed, decoder.isLengthEstimated { try Self.findEnd(of: decoder) }
    self.decoder = decoder
    readsIntegers = decoder.readsIntegers
    downmix =
      channelCount == 2
      ? StereoDownmix(channelCount: decoder.channelCount, speakers: decoder.speakers) : nil
    path = PlayPath(range, through: decoder)
    boundary = path.entry
    // A ring buffer full of short files keeps hundreds of these.
    blockFrames = min(Self.blockFrames, max(1, decoder.frameCount ?? Self.blockFrames))
    block = SampleBuffer(frameCount: 0, channelCount: decoder.channelCount)
  }

  /// Reads on to the end, at which reverse playback begins, so that its position is known. Throws
  /// as the decoder's `read` does.
  private static func findEnd(of decoder: any SoundDecoder) throws(FileFailure) {
    var passed = SampleBuffer(frameCount: 4096, channelCount: decoder.channelCount)
    while try decoder.readChecked(into: &passed, at: 0, frames: passed.frameCount) > 0 {}
  }

  /// Throws as `init` does if the cursor cannot continue with another range, at the boundary
  /// `entry`.
  func check(_ range: PlaybackRange, entry: Int) throws(FileFailure) {
    try Self.check(decoder, range, entry: entry)
  }

  /// Continues with another range, at the boundary `entry`. `check` must have accepted it.
  mutating func follow(_ range: PlaybackRange, entry: Int) {
    if range.isReversed != path.range.isReversed { held = 0..<0 }
    copies = 1
    path = PlayPath(range, through: decoder, entry: entry)
    boundary = path.entry
    passes = 0
  }

  private static func check(
    _ decoder: any SoundDecoder, _ range: PlaybackRange, entry: Int
  ) throws(FileFailure) {
    let isPlain = range.times == 1 && !range.isReversed && entry == decoder.position
    guard decoder.supportsSeeking || isPlain else {
      throw FileFailure(
        .unusableContents,
        "\(decoder.name) can only be played from its beginning to its end.",
        hint: .seekableCopy(isFile: decoder.byteSource?.hadRandomAccess ?? false))
    }
    if range.isReversed, decoder.frameCount == nil {
      throw FileFailure(
        .unusableContents,
        "\(decoder.name) does not say where it ends, so it cannot be played backwards.",
        hint: "Convert it with sox first.")
    }
  }

  /// Fills `buffer` from `target` on with at most `room` frames, in its channels, and returns their
  /// number; 0 at the end.
  mutating func read(
    into buffer: inout SampleBuffer, at target: Int = 0, room: Int
  ) throws(FileFailure) -> Int {
    while path.range.times.map({ passes < $0 }) ?? true {
      let rest = path.range.isReversed ? boundary - path.start : path.end.map { $0 - boundary }
      if let rest, rest <= 0 {
        try checkAnnounced()
        // An empty range is not repeated.
        guard path.length != 0 else { return 0 }
        passes += 1
        boundary = path.range.isReversed ? path.end ?? 0 : path.start
        continue
      }
      if !isHeld, isDirect(channelCount: buffer.channelCount) {
        let wanted = min(room, rest ?? .max)
        if try approach(boundary) {
          let count = try decoder.readChecked(into: &buffer, at: target, frames: wanted)
          boundary += count
          if count > 0 { return count }
        }
        guard try endEarly() else { return 0 }
        continue
      }
      if !isHeld, try !load() {
        guard try endEarly() else { return 0 }
        continue
      }
      copyPass()
      let passesBehind = path.range.times.map { $0 - passes - 1 } ?? .max
      let further = min(copies - 1, passesBehind) * held.count
      return take(into: &buffer, at: target, room: min(room, rest.map { $0 + further } ?? .max))
    }
    return 0
  }

  /// Returns whether frames are decoded directly into the destination: those that need not be
  /// reversed, mixed down, or kept for another pass.
  private func isDirect(channelCount: Int) -> Bool {
    guard !path.range.isReversed, channelCount == decoder.channelCount else { return false }
    return path.range.times == 1 || path.length.map { $0 > blockFrames } ?? true
  }

  /// Fills the block with copies of a short range, once the range has been played to its end.
  private mutating func copyPass() {
    guard copies == 1, passes > 0, let end = path.end, held == path.start..<end,
      held.count <= Self.shortFrames
    else { return }
    let count = held.count * block.channelCount
    if block.frameCount < Self.copiedFrames {
      var longer = SampleBuffer(frameCount: Self.copiedFrames, channelCount: block.channelCount)
      longer.replace(at: 0, with: block, from: 0, frames: held.count)
      block = longer
    }
    copies = Self.copiedFrames / held.count
    for sample in count..<copies * count { block[sample] = block[sample - count] }
  }

  /// Reads after the last frame of a file that has fewer frames than it states, if more are
  /// required: the read throws the failure.
  private mutating func checkAnnounced() throws(FileFailure) {
    guard decoder.isCutShort, let end = decoder.frameCount, path.end == end,
      path.range.endFrame.map({ $0 > end }) ?? true
    else { return }
    held = 0..<0
    copies = 1
    makeBlock()
    guard try approach(end) else { return }
    _ = try decoder.read(into: &block, at: 0, frames: 1)
  }

  /// Whether a read that returned nothing was interrupted before the end.
  var isInterrupted: Bool { decoder.isInterrupted }

  /// Whether the next frame is in the block.
  private var isHeld: Bool { isHeld(boundary) }

  /// Returns whether the frame after `boundary` in playing order is in the block.
  private func isHeld(_ boundary: Int) -> Bool {
    path.range.isReversed
      ? held.lowerBound < boundary && boundary <= held.upperBound : held.contains(boundary)
  }

  /// Whether the decoder must seek before the next frame can be read.
  var isElsewhere: Bool {
    let isReversed = path.range.isReversed
    let isPassOver = isReversed ? boundary <= path.start : path.end.map { boundary >= $0 } ?? false
    if isPassOver, let times = path.range.times, passes + 1 >= times { return false }
    let next = isPassOver ? (isReversed ? path.end ?? 0 : path.start) : boundary
    let first = isReversed ? max(path.start, next - blockFrames) : next
    return !isHeld(next) && decoder.position != first
  }

  private mutating func take(into buffer: inout SampleBuffer, at target: Int, room: Int) -> Int {
    let isReversed = path.range.isReversed
    let ahead = isReversed ? boundary - held.lowerBound : held.upperBound - boundary
    let count = min(room, ahead + (copies - 1) * held.count)
    let source = isReversed ? held.upperBound - boundary : boundary - held.lowerBound
    if let downmix {
      downmix.apply(block, from: source, frames: count, into: &buffer, at: target)
    } else {
      buffer.copy(block, from: source, at: target, frames: count)
    }
    var moved = count
    if count > ahead {
      // At the end of a pass the next one has not begun.
      let further = count - ahead - 1
      passes += 1 + further / held.count
      boundary = isReversed ? held.upperBound : held.lowerBound
      moved = further % held.count + 1
    }
    boundary += isReversed ? -moved : moved
    return count
  }

  private mutating func makeBlock() {
    guard block.frameCount < blockFrames else { return }
    block = SampleBuffer(frameCount: blockFrames, channelCount: decoder.channelCount)
  }

  /// Reads the block that contains the next frame. Returns false if there is none.
  private mutating func load() throws(FileFailure) -> Bool {
    makeBlock()
    let isReversed = path.range.isReversed
    let first = isReversed ? max(path.start, boundary - block.frameCount) : boundary
    // A range that is played once does not wait for a whole block of a slow network.
    let maximum = path.range.times == 1 ? min(block.frameCount, 4096) : block.frameCount
    let wanted = isReversed ? boundary - first : min(maximum, (path.end ?? .max) - boundary)
    held = 0..<0
    copies = 1
    guard try approach(first) else { return false }
    var count = 0
    while count < wanted {
      do throws(FileFailure) {
        let some = try decoder.readChecked(into: &block, at: count, frames: wanted - count)
        guard some > 0 else { break }
        count += some
      } catch {
        // The frames before the failure are played first; the next read throws it again.
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

  /// Moves to the frame `first`: by reading the frames before it if the decoder cannot seek.
  /// Returns false if the file ends before it.
  private mutating func approach(_ first: Int) throws(FileFailure) -> Bool {
    guard decoder.position != first else { return true }
    guard !decoder.supportsSeeking else {
      try decoder.seek(toFrame: first)
      return true
    }
    makeBlock()
    while decoder.position < first {
      let wanted = min(block.frameCount, first - decoder.position)
      guard try decoder.read(into: &block, at: 0, frames: wanted) > 0 else { return false }
    }
    return decoder.position == first
  }

  /// Handles a file that ended before its stated length. Returns false if nothing of it is left to
  /// play. Throws `.unusableContents` if its end is too far before the stated one, and
  /// `.invalidRequest` if it is before the range.
  private mutating func endEarly() throws(FileFailure) -> Bool {
    if decoder.isInterrupted { return false }
    if path.range.isReversed {
      missingBlocks += 1
      guard missingBlocks < Self.maximumMissingBlocks else {
        throw FileFailure(
          .unusableContents, "\(decoder.name) is much shorter than its header states.",
          hint: "Play it forwards, or convert it with sox first.")
      }
      return boundary > path.start
    }
    if boundary <= path.start, path.start > 0, passes == 0 { throw .endsBeforeStart(decoder.name) }
    guard boundary > path.start, path.end != boundary else { return false }
    path.shorten(to: boundary)
    return true
  }
}

extension FileFailure {
  /// Returns the failure for a file that has no frame at the start of the playback.
  package static func endsBeforeStart(_ name: String) -> FileFailure {
    FileFailure(
      .invalidRequest, "\(name) ends before the start that was asked for.",
      hint: "Use an earlier start.")
  }
}

import AudioBasics
import CMpg123

/// MPEG audio, layers I to III (MP3), from any byte source.
///
/// Without a header of its encoder (Xing, LAME) the length of such a file and the places of its
/// frames are known only after all of it is read. What is near is read; of what is far, see
/// `Exactness`.
public final class MPEGDecoder: PlainSoundDecoder {
  /// Exactness of a seek, and with it its cost.
  public enum Exactness: Sendable {
    /// Goes to the very frame, and reads on as far as it must. For files on disk.
    case exact
    /// Reads only what is played. Goes to the very frame where all blocks have one bit rate; else
    /// as near as the encoder's notes tell (a hundredth of the time, or better). Without notes a
    /// seek goes to the very frame and reads what lies before, and the length is an estimate.
    case economical
  }

  private let bytes: BufferedBytes
  private let exactness: Exactness
  private var stream: MPEGStream
  private let decoder: MPEGBlockDecoder
  private var silence: SampleBuffer?

  /// Samples of the last block that were not read yet.
  private var rest = UnsafeBufferPointer<Float>(start: nil, count: 0)
  /// Frames to come that only lead up to `position`.
  private var prerollFrames = 0
  /// Whether `position` has still to be gone to.
  private var isAway = false
  private var countedBlocks: Int?
  private let byteRate: Double

  /// Where the bytes come from.
  public var name: String { bytes.name }
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// What the file says about itself.
  public let tags: SoundFileTags
  /// What kind of file it is, for people.
  public let formatName = "MPEG audio (MP3)"
  /// The frame that the next read begins with.
  public private(set) var position = 0
  /// Number of times so far that something other than sound was skipped.
  public var damageCount: Int { stream.damageCount }

  /// Finds the sound in `source`. Throws `.unusableContents` where there is none, `.readFailed`
  /// where the opening was interrupted, and what the source throws.
  public convenience init(
    _ source: any ByteSource, exactness: Exactness
  ) throws(FileFailure) {
    try self.init(BufferedBytes(source), exactness: exactness)
  }

  init(_ bytes: BufferedBytes, exactness: Exactness) throws(FileFailure) {
    var tags: SoundFileTags?
    for _ in 0..<Self.mostTags {
      guard let found = try ID3Tags(readingFrom: bytes) else { break }
      tags = tags ?? found.tags
    }
    let stream = try MPEGStream(bytes, isNear: exactness == .exact)
    if tags == nil, exactness == .exact { tags = try ID3Tags(endingIn: bytes)?.tags }
    let channels = stream.first.channelCount
    guard
      let decoder = MPEGBlockDecoder(sampleRate: stream.first.sampleRate, channelCount: channels)
    else { throw .noMemory(toDecode: bytes.name) }
    self.bytes = bytes
    self.exactness = exactness
    self.stream = stream
    self.decoder = decoder
    self.tags = tags ?? SoundFileTags()
    byteRate = Double(stream.bitRate) / 8
    prerollFrames = stream.information?.leadingFrames ?? 0
    sampleRate = stream.first.sampleRate
    channelCount = channels
  }

  /// Blocks of tags before the sound, of which programs write one or two.
  private static let mostTags = 16

  /// Whether it can be read from any frame on.
  public var supportsSeeking: Bool { bytes.isSeekable }

  /// Frames in all; an estimate where `.economical` and without the encoder's notes. Reads all of
  /// it when first asked where `.exact` and without them. nil where there is no end.
  public var frameCount: Int? {
    guard bytes.byteCount != nil else { return nil }
    if let exact = knownFrameCount { return exact }
    if exactness == .exact, bytes.isSeekable {
      try? count()
      if let exact = knownFrameCount { return exact }
    }
    // Reading on tells.
    let blocks =
      stream.missedBlockCount.map { min($0, stream.largestBlockCount ?? $0) }
      ?? stream.estimatedBlockCount
    return blocks.map { frameCount(inBlocks: $0, isWhole: false) }
  }

  /// Whether that is an estimate, or what the encoder's notes say of bytes that can only be read
  /// on.
  public var isLengthEstimated: Bool {
    guard countedBlocks == nil else { return false }
    return stream.goesOn == nil || exactness == .economical && stream.announcedBlockCount == nil
  }

  /// Frames that the encoder's notes promise, where there are too few bytes for them.
  public var announcedFrameCount: Int? {
    stream.missedBlockCount.map { frameCount(inBlocks: $0, isWhole: true) }
  }

  /// Whether something is missing at its end, or was found to be missing within it.
  public var isCutShort: Bool {
    announcedFrameCount != nil || missesBlocks || (bytes.byteCount != nil && damageCount > 0)
      || goesOnBehindEnd
  }

  /// Bits a second, on average.
  public var bitRate: Int? { stream.bitRate }

  /// Whether enough sound is buffered, as `SoundDecoder` defines it. Any thread.
  public func isReady(prebuffer seconds: Double?) -> Bool {
    bytes.isReady(bytesPerSecond: byteRate, prebuffer: seconds)
  }

  /// Fills `buffer` from frame `target` on with at most `frames` frames; 0 at the end, or after
  /// `interrupt`. Throws `.unusableContents` where the rate changes midway, and what the source
  /// throws.
  public func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the decoder must have the same number of channels.")
    requirement(
      target >= 0 && target <= buffer.frameCount,
      "The frames are outside of the buffer.")
    var wanted = min(frames, buffer.frameCount - target)
    if let end = knownFrameCount {
      if position < end || wanted == 0 {
        wanted = min(wanted, end - position)
      } else {
        bytes.recover()
        if try !stream.looksBehindNotes() { wanted = 0 }
      }
    }
    var done = 0
    while done < wanted {
      let place = buffer.base + (target + done) * channelCount
      if rest.isEmpty {
        // Where there is room for any block, it is decoded where it is wanted.
        let isRoomy = wanted - done >= MPEGHeader.mostFrames
        do throws(FileFailure) {
          guard try decodeBlock(into: isRoomy ? place : nil) else { break }
        } catch {
          if done > 0 { break }
          throw error
        }
      }
      let count = min(wanted - done, rest.count / channelCount)
      guard count > 0, let source = rest.baseAddress else { continue }
      if source != place { place.update(from: source, count: count * channelCount) }
      drop(count)
      done += count
      position += count
    }
    if done == 0, frames > 0 { try checkEnd() }
    return done
  }

  /// Goes to `frame`; the end is allowed. Reads nothing yet but what the length needs. Throws
  /// `.unusableContents` where there is no such frame, or where there is only one way.
  public func seek(toFrame frame: Int) throws(FileFailure) {
    guard frame != position || isAway else { return }
    if supportsSeeking, exactness == .exact, knownFrameCount == nil { try count() }
    try checkSeek(toFrame: frame)
    position = frame
    isAway = true
    rest = UnsafeBufferPointer(start: nil, count: 0)
  }

  /// Where the bytes come from.
  public var byteSource: (any ByteSource)? { bytes.source }

  private var blockFrames: Int { stream.first.frameCount }
  private var leadingFrames: Int { stream.information?.leadingFrames ?? 0 }
  private var knownFrameCount: Int? {
    (countedBlocks ?? stream.announcedBlockCount).map {
      // A file cut short has lost what its encoder put behind the sound.
      frameCount(inBlocks: $0, isWhole: stream.missedBlockCount == nil)
    }
  }

  private func frameCount(inBlocks blocks: Int, isWhole: Bool) -> Int {
    let trailing = isWhole ? stream.information?.trailingFrames ?? 0 : 0
    return min(max(0, blocks * blockFrames - leadingFrames - trailing), FileBounds.frameCount)
  }

  /// Whether fewer blocks were counted than the encoder's notes promise; a block or two are
  /// miscounted often.
  private var missesBlocks: Bool {
    guard let countedBlocks, let promised = stream.announcedBlockCount else { return false }
    return countedBlocks + 2 < promised
  }

  /// Whether it stands at the end that the encoder's notes tell of, and blocks follow.
  private var goesOnBehindEnd: Bool {
    !isAway && position == knownFrameCount && stream.hasManyBytesLeft
  }

  /// Nothing came: was that the end?
  private func checkEnd() throws(FileFailure) {
    guard !bytes.wasInterrupted, !bytes.source.isInterrupted else { return }
    if goesOnBehindEnd {
      throw FileFailure(
        .unusableContents,
        "\(name) goes on behind the \(position) frames that its head announces.",
        hint: "Write it anew with ffmpeg -i \(name) -c copy NEW.mp3 to play all of it.")
    }
    guard isCutShort || bytes.source is PipeSource else { return }
    // A pipe has come to its end: a block or two are miscounted often.
    let promised =
      stream.missedBlockCount
      ?? stream.announcedBlockCount.flatMap {
        isCutShort || stream.isCounted && stream.nextBlock + 2 < $0 ? $0 : nil
      }
    if let promised = promised.map({ frameCount(inBlocks: $0, isWhole: true) }),
      position < promised
    {
      throw .cutShort(name, position, promised)
    }
    if isCutShort, damageCount > 0 { throw .damaged(name) }
  }
}

extension MPEGDecoder {
  /// Makes `rest` the samples of the next block, which lie at `target` where that is given. False
  /// at the end, or after an interruption.
  private func decodeBlock(into target: UnsafeMutablePointer<Float>?) throws(FileFailure) -> Bool {
    bytes.recover()
    if isAway {
      guard try goToPosition() else { return false }
    }
    guard let header = try stream.next() else {
      if stream.isCounted, !bytes.wasInterrupted, countedBlocks == nil, bytes.byteCount != nil {
        countedBlocks = stream.nextBlock
      }
      return false
    }
    let block = try bytes.peek(header.byteCount)
    guard block.count == header.byteCount else { return false }
    rest = decoder.decode(block, into: target)
    if rest.count != blockFrames * channelCount {
      decoder.reset()
      rest = makeSilence()
    }
    stream.pass(header)
    let unwanted = min(prerollFrames, blockFrames)
    drop(unwanted)
    prerollFrames -= unwanted
    return true
  }

  /// Goes to the block from which on the decoder must run so that `position` sounds as it should.
  private func goToPosition() throws(FileFailure) -> Bool {
    let frame = position + leadingFrames
    let block = max(0, frame / blockFrames - stream.first.prerollBlockCount)
    let hasArrived =
      try exactness == .exact ? stream.walk(to: block) : stream.leap(to: block)
    guard hasArrived else { return false }
    decoder.reset()
    prerollFrames = frame - stream.nextBlock * blockFrames
    isAway = false
    return true
  }

  /// Reads to the end, to know how many blocks there are; what follows must go to `position` again.
  private func count() throws(FileFailure) {
    bytes.recover()
    isAway = true
    rest = UnsafeBufferPointer(start: nil, count: 0)
    if try stream.walk(to: .max) { countedBlocks = stream.nextBlock }
  }

  private func drop(_ frames: Int) {
    rest = UnsafeBufferPointer(rebasing: rest[(frames * channelCount)...])
  }

  private func makeSilence() -> UnsafeBufferPointer<Float> {
    if silence == nil {
      silence = SampleBuffer(frameCount: blockFrames, channelCount: channelCount)
    }
    guard let start = silence?.base else { return UnsafeBufferPointer(start: nil, count: 0) }
    return UnsafeBufferPointer(start: start, count: blockFrames * channelCount)
  }
}

/// libmpg123 as a decoder of single blocks, one after the other: where they lie, it is not asked.
struct MPEGBlockDecoder: ~Copyable {
  private let handle: OpaquePointer
  /// Room for the longest block.
  private let samples: SampleBuffer

  /// A decoder to `channelCount` channels, whatever a block has. nil without memory.
  init?(sampleRate: Int, channelCount: Int) {
    guard let handle = mpg123_new(nil, nil) else { return nil }
    let flags =
      MPG123_QUIET.rawValue | MPG123_FORCE_FLOAT.rawValue | MPG123_IGNORE_INFOFRAME.rawValue
      | MPG123_NO_READAHEAD.rawValue | MPG123_SKIP_ID3V2.rawValue
      | (channelCount == 1 ? MPG123_MONO_MIX.rawValue : MPG123_FORCE_STEREO.rawValue)
    mpg123_param2(handle, Int32(MPG123_FLAGS.rawValue), Int(flags), 0)
    mpg123_param2(handle, Int32(MPG123_INDEX_SIZE.rawValue), 0, 0)
    mpg123_format_none(handle)
    let channels = channelCount == 1 ? MPG123_MONO.rawValue : MPG123_STEREO.rawValue
    mpg123_format(handle, sampleRate, Int32(channels), Int32(MPG123_ENC_FLOAT_32.rawValue))
    mpg123_open_feed(handle)
    self.handle = handle
    samples = SampleBuffer(frameCount: MPEGHeader.mostFrames, channelCount: channelCount)
  }

  deinit {
    mpg123_delete(handle)
  }

  /// Forgets all blocks before: what comes next need not follow them.
  func reset() {
    mpg123_open_feed(handle)
  }

  /// The samples of a whole block: at `target`, which has room for the longest, or where they stay
  /// until the next call. Empty where it is damaged.
  func decode(
    _ block: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<Float>?
  ) -> UnsafeBufferPointer<Float> {
    mpg123_replace_buffer(
      handle, target ?? samples.base, samples.sampleCount * MemoryLayout<Float>.stride)
    let bytes = block.assumingMemoryBound(to: UInt8.self)
    var result = mpg123_feed(handle, bytes.baseAddress, bytes.count)
    var samples: UnsafeMutablePointer<UInt8>?
    var byteCount = 0
    // The first answer may be the news of a format.
    for _ in 0..<3 where result == MPG123_OK.rawValue || result == MPG123_NEW_FORMAT.rawValue {
      var number = 0
      result = mpg123_decode_frame(handle, &number, &samples, &byteCount)
      if byteCount > 0 { break }
    }
    guard let samples, byteCount > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
    let count = byteCount / MemoryLayout<Float>.stride
    let floats = UnsafeRawPointer(samples).assumingMemoryBound(to: Float.self)
    return UnsafeBufferPointer(start: floats, count: count)
  }
}

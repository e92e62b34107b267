import AudioBasics
import CMpg123

/// A decoder of MPEG audio, layers I to III (MP3), from any byte source.
///
/// Without an encoder header (Xing, LAME), the length of such a file and the positions of its
/// frames are known only after reading all of it. A local file is read completely; for a remote
/// file, see `Exactness`.
public final class MPEGDecoder: PlainSoundDecoder {
  /// The precision of a seek, which determines its cost.
  public enum Exactness: Sendable {
    /// Seeks to the exact frame, and reads as many bytes as necessary. For files on disk.
    case exact
    /// Reads only the bytes to be played. Seeks to the exact frame if all blocks have the same bit
    /// rate, otherwise as precisely as the seek table of the encoder header allows (1 % of the
    /// duration, or better). Without an encoder header, a seek goes to the exact frame by reading
    /// all earlier blocks, and the length is an estimate.
    case economical
  }

  private let bytes: BufferedBytes
  private let exactness: Exactness
  private var stream: MPEGStream
  private let decoder: MPEGBlockDecoder
  private var silence: SampleBuffer?

  /// The samples of the last block that were not read yet.
  private var rest = UnsafeBufferPointer<Float>(start: nil, count: 0)
  /// The number of decoded frames to discard before `position`.
  private var prerollFrames = 0
  /// Whether the stream must still be moved to `position`.
  private var isAway = false
  private var countedBlocks: Int?
  private let byteRate: Double

  /// The name of the byte source.
  public var name: String { bytes.name }
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The number of samples in a frame.
  public let channelCount: Int
  /// The tags of the file.
  public let tags: SoundFileTags
  /// The file format as text for users.
  public let formatName = "MPEG audio (MP3)"
  /// The index of the next frame to read.
  public private(set) var position = 0
  /// The number of times so far that data other than audio was skipped.
  public var damageCount: Int { stream.damageCount }

  /// Opens the audio in `source`. Throws `.unknownContents` if there is none, `.readFailed` if the
  /// opening was interrupted, and the errors that the source throws.
  public convenience init(
    _ source: any ByteSource, exactness: Exactness
  ) throws(FileFailure) {
    try self.init(BufferedBytes(source), exactness: exactness)
  }

  init(_ bytes: BufferedBytes, exactness: Exactness) throws(FileFailure) {
    var tags: SoundFileTags?
    for _ in 0..<Self.maximumTags {
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

  /// The maximum number of tags before the audio. Programs write one or two.
  private static let maximumTags = 16

  /// Whether the audio can be read from any frame on.
  public var supportsSeeking: Bool { bytes.isSeekable }

  /// The total number of frames. Without an encoder header, `.economical` gives an estimate, and
  /// `.exact` reads the whole file on the first access. nil if there is no end.
  public var frameCount: Int? {
    guard bytes.byteCount != nil else { return nil }
    if let exact = knownFrameCount { return exact }
    if exactness == .exact, bytes.isSeekable {
      try? count()
      if let exact = knownFrameCount { return exact }
    }
    // The exact number is found by reading on.
    let blocks =
      stream.missedBlockCount.map { min($0, stream.largestBlockCount ?? $0) }
      ?? stream.estimatedBlockCount
    return blocks.map { frameCount(inBlocks: $0, isWhole: false) }
  }

  /// Whether `frameCount` is an estimate, or taken from the encoder header of a source that can
  /// only be read in sequence.
  public var isLengthEstimated: Bool {
    guard countedBlocks == nil else { return false }
    return stream.continuesAfterEnd == nil
      || exactness == .economical && stream.announcedBlockCount == nil
  }

  /// The number of frames that the encoder header announces, if there are too few bytes for them.
  public var announcedFrameCount: Int? {
    stream.missedBlockCount.map { frameCount(inBlocks: $0, isWhole: true) }
  }

  /// Whether data is missing at the end, or was found to be missing before it.
  public var isCutShort: Bool {
    announcedFrameCount != nil || missesBlocks || (bytes.byteCount != nil && damageCount > 0)
      || isAtContinuedEnd
  }

  /// The average bit rate in bits per second.
  public var bitRate: Int? { stream.bitRate }

  /// Returns whether enough audio is buffered, as defined by `SoundDecoder`. Any thread.
  public func isReady(prebuffer seconds: Double?) -> Bool {
    bytes.isReady(bytesPerSecond: byteRate, prebuffer: seconds)
  }

  /// Fills `buffer` from frame `target` on with at most `frames` frames. Returns the number of
  /// frames; 0 at the end, or after `interrupt`. Throws `.unusableContents` if the sample rate
  /// changes, and the errors that the source throws.
  public func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    var wanted = buffer.room(at: target, atMost: frames, channelCount: channelCount)
    if let end = knownFrameCount {
      if position < end || wanted == 0 {
        wanted = min(wanted, end - position)
      } else {
        bytes.recover()
        if try !stream.continuesAfterEncoderHeader() { wanted = 0 }
      }
    }
    var done = 0
    while done < wanted {
      let destination = buffer.base + (target + done) * channelCount
      if rest.isEmpty {
        // If the caller's buffer has room for any block, the block is decoded directly into it.
        let isRoomy = wanted - done >= MPEGHeader.maximumFrames
        do throws(FileFailure) {
          guard try decodeBlock(into: isRoomy ? destination : nil) else { break }
        } catch {
          if done > 0 { break }
          throw error
        }
      }
      let count = min(wanted - done, rest.count / channelCount)
      guard count > 0, let source = rest.baseAddress else { continue }
      if source != destination { destination.update(from: source, count: count * channelCount) }
      drop(count)
      done += count
      position += count
    }
    if done == 0, frames > 0 { try checkEnd() }
    return done
  }

  /// Sets the position of the next read to `frame`, which may be the end. Reads only the bytes
  /// needed to find the length. Throws `.unusableContents` if there is no such frame, or if the
  /// source is not seekable.
  public func seek(toFrame frame: Int) throws(FileFailure) {
    guard frame != position || isAway else { return }
    if supportsSeeking, exactness == .exact, knownFrameCount == nil { try count() }
    try checkSeek(toFrame: frame)
    position = frame
    isAway = true
    rest = UnsafeBufferPointer(start: nil, count: 0)
  }

  /// The source of the bytes.
  public var byteSource: (any ByteSource)? { bytes.source }

  private var blockFrames: Int { stream.first.frameCount }
  private var leadingFrames: Int { stream.information?.leadingFrames ?? 0 }
  private var knownFrameCount: Int? {
    (countedBlocks ?? stream.announcedBlockCount).map {
      // A truncated file has lost the padding that the encoder added after the audio.
      frameCount(inBlocks: $0, isWhole: stream.missedBlockCount == nil)
    }
  }

  private func frameCount(inBlocks blocks: Int, isWhole: Bool) -> Int {
    let trailing = isWhole ? stream.information?.trailingFrames ?? 0 : 0
    return min(max(0, blocks * blockFrames - leadingFrames - trailing), FileBounds.frameCount)
  }

  /// Whether fewer blocks were counted than the encoder header announces. A difference of one or
  /// two blocks is ignored, because encoders often miscount by as many.
  private var missesBlocks: Bool {
    guard let countedBlocks, let promised = stream.announcedBlockCount else { return false }
    return countedBlocks + 2 < promised
  }

  /// Whether the position is at the end given by the encoder header, and blocks follow.
  private var isAtContinuedEnd: Bool {
    !isAway && position == knownFrameCount && stream.hasManyBytesLeft
  }

  /// Throws an error if the data ended before the end of the audio. Called if a read returned no
  /// frames.
  private func checkEnd() throws(FileFailure) {
    guard !bytes.wasInterrupted, !bytes.source.isInterrupted else { return }
    if isAtContinuedEnd {
      throw FileFailure(
        .unusableContents,
        "\(name) has more than the \(position) frames that its header announces.",
        hint: "Rewrite it with ffmpeg -i \(name) -c copy NEW.mp3 to play all of it.")
    }
    guard isCutShort || bytes.endsEarly || bytes.source is PipeSource else { return }
    // At the end of a pipe. Encoders often miscount by a block or two.
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
    try bytes.checkByteCount()
    if isCutShort, damageCount > 0 { throw .damaged(name) }
  }
}

extension MPEGDecoder {
  /// Decodes the next block into `rest`, using the memory at `target` if it is given. Returns false
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

  /// Moves to the block at which decoding must begin so that the samples at `position` are exact.
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

  /// Reads to the end to count the blocks. The next read must move to `position` again.
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

/// A decoder of single, consecutive blocks based on libmpg123, which does not search for blocks
/// here.
struct MPEGBlockDecoder: ~Copyable {
  private let handle: OpaquePointer
  /// A buffer for the largest block.
  private let samples: SampleBuffer

  /// Creates a decoder with `channelCount` output channels for blocks with any number of channels.
  /// Returns nil if there is not enough memory.
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
    samples = SampleBuffer(frameCount: MPEGHeader.maximumFrames, channelCount: channelCount)
  }

  deinit {
    mpg123_delete(handle)
  }

  /// Resets the decoder, so that the next block need not follow the previous one.
  func reset() {
    mpg123_open_feed(handle)
  }

  /// Returns the samples of a complete block. They are at `target`, which has room for the largest
  /// block, or in a buffer that is valid until the next call. Empty if the block is damaged.
  func decode(
    _ block: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<Float>?
  ) -> UnsafeBufferPointer<Float> {
    mpg123_replace_buffer(
      handle, target ?? samples.base, samples.sampleCount * MemoryLayout<Float>.stride)
    let bytes = block.assumingMemoryBound(to: UInt8.self)
    var result = mpg123_feed(handle, bytes.baseAddress, bytes.count)
    var samples: UnsafeMutablePointer<UInt8>?
    var byteCount = 0
    // The first result may only report a new format.
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

import CSndFile
import Glibc

/// A file being written through libsndfile: compressed formats, and containers other than WAV and
/// RF64.
final class EncodedFile: SampleSink {
  private var handle: SoundFileHandle?
  var isOpen: Bool { handle != nil }
  private let pointer: OpaquePointer
  let descriptor: Int32
  private let request: SinkRequest
  private let order: ChannelOrder
  /// The tags of an MP3 file that are not ASCII.
  private var encodedTags: MP3Tags?
  private var refreshedFrameCount = 0
  /// The number of frames that libsndfile accepted.
  private var acceptedFrameCount = 0
  /// Whether a write failed. `append` has then already reported the missing frames.
  private var isBroken = false
  private(set) var frameCount = 0
  var notes: RecordingNotes

  /// The most frames passed to an encoder at once: at most one FLAC block, so that a failed write
  /// loses only one block.
  private static let pieceFrameCount = 1024

  /// Starts writing the empty file that `descriptor` refers to.
  init(
    _ descriptor: consuming FileDescriptor, _ request: SinkRequest
  ) throws(SoundFileRefusal) {
    var info = SF_INFO()
    info.samplerate = Int32(request.sampleRate)
    info.channels = Int32(request.channelCount)
    info.format = request.fileFormat.code(request.sampleFormat)
    let opened = try SoundFileHandle(writing: descriptor, info: &info)
    switch request.fileFormat {
    // Transparent to nearly every listener: 190 to 260 kbit/s for stereo music.
    case .mp3: opened.set(Int(SFC_SET_VBR_ENCODING_QUALITY), 0.8)
    case .opus:
      opened.set(Int(SFC_SET_VBR_ENCODING_QUALITY), 0.35)
      // The page latency in milliseconds: a crash loses at most this much audio.
      opened.set(Int(SFC_SET_OGG_PAGE_LATENCY_MS), 200)
    default: break
    }
    let encodedTags = request.fileFormat == .mp3 ? MP3Tags(request.tags) : nil
    opened.set(encodedTags?.padded ?? request.tags)
    pointer = opened.pointer
    self.descriptor = opened.descriptor
    self.request = request
    order = ChannelOrder(request.fileFormat, channelCount: request.channelCount)
    notes = RecordingNotes(request.tags)
    self.encodedTags = encodedTags
    handle = consume opened
    // This writes the header of a container, with the tags. Encoders write theirs with the first
    // samples.
    if isContainer { sf_command(pointer, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
  }

  deinit {
    try? close()
  }

  private var fileFormat: FileFormat { request.fileFormat }
  private var sampleFormat: FileSampleFormat { request.sampleFormat }
  private var sampleRate: Int { request.sampleRate }
  private var channelCount: Int { request.channelCount }

  /// Whether the file is a container for samples that are not encoded.
  private var isContainer: Bool {
    switch fileFormat {
    case .aiff, .caf, .w64: true
    case .wav, .rf64, .raw, .flac, .ogg, .opus, .mp3: false
    }
  }

  var isReadable: Bool {
    switch fileFormat {
    case .flac: (FLACLength(descriptor)?.headerFrameCount ?? 0) > 0
    // libsndfile writes the Opus header with the first samples, and samples when a page is full.
    case .opus: OpusLength.frameCount(in: descriptor, sampleRate: sampleRate) > 0
    case .mp3: holdsMP3Blocks
    case .wav, .rf64, .w64, .aiff, .caf, .ogg, .raw: true
    }
  }

  /// Whether an MP3 file has blocks of audio after its tags and after the block that will contain
  /// its length (at most 417 bytes).
  private var holdsMP3Blocks: Bool {
    let head = OutputBytes.bytes(at: 0, count: ID3Head.byteCount, of: descriptor)
    guard head.count == ID3Head.byteCount else { return false }
    let tags = ID3Head(head)?.byteCount ?? 0
    return lseek(descriptor, 0, SEEK_CUR) - tags >= 700
  }

  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    try checkOpen()
    let maximum = isContainer ? frames : Self.pieceFrameCount
    var done = 0
    while done < frames {
      let count = min(frames - done, maximum)
      try appendPiece(samples + done * channelCount, frames: count, scratch: scratch)
      done += count
    }
    // Some readers mistake samples beyond the length in the header for chunks and stop reading.
    if isContainer { try refreshCounting() }
  }

  /// Refreshes the header of a container. If this fails, sets `frameCount` to the number of frames
  /// that the header counts, since only these can be read.
  private func refreshCounting() throws(SystemError) {
    do throws(SystemError) {
      try refreshHeader()
    } catch {
      frameCount = refreshedFrameCount
      throw error
    }
  }

  func refresh() throws(SystemError) {
    try checkOpen()
    try refreshHeader()
  }

  private func refreshHeader() throws(SystemError) {
    guard frameCount != refreshedFrameCount else { return }
    if fileFormat == .flac, let length = FLACLength(descriptor) {
      try length.writeFrameCount(length.codedFrameCount(of: frameCount))
    } else if isContainer {
      errno = 0
      sf_command(pointer, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
      guard errno == 0 else { throw .last }
    }
    refreshedFrameCount = frameCount
  }

  func close() throws(SystemError) {
    guard let handle = handle.take() else { return }
    try? refreshHeader()
    let offset = lseek(descriptor, 0, SEEK_CUR)
    let end =
      fileFormat == .opus && !isBroken ? OpusEnd(of: descriptor, sampleRate: sampleRate) : nil
    var endError = end.flatMap { appendSilence($0.paddingFrameCount(after: frameCount)) }
    var isWhole = false
    defer {
      // Only the frames that the header of a container counts can be read.
      if !isWhole, isContainer { frameCount = refreshedFrameCount }
    }
    do throws(SystemError) {
      try handle.close { error in
        // libsndfile does not report that the last block of an encoder could not be written.
        let length = fileFormat == .flac ? FLACLength(descriptor) : nil
        let isComplete =
          length.map { $0.headerFrameCount == frameCount }
          ?? (endError == nil && !error.isRefusedWrite)
        // The data after a missing block is useless as well.
        let isCut = isBroken && fileFormat != .flac
        if !isComplete || isCut, !isContainer {
          OutputBytes.cut(descriptor, at: offset)
          endWithWholeBlock()
          if fileFormat == .mp3 { try? MP3End(of: descriptor)?.writeInformation() }
        }
        if fileFormat == .aiff {
          let byteCount = frameCount * channelCount * sampleFormat.byteCount
          AIFFLength.writeLength(byteCount, endingAt: offset, in: descriptor)
        }
        if !isComplete || isBroken { countKept() }
        if isComplete, let end { endError = end.cutOff(after: frameCount) }
        if isComplete { try? encodedTags?.rewriteEnd(descriptor) }
        return isComplete || isBroken
      }
    } catch {
      throw endError ?? error
    }
    if let endError { throw endError }
    isWhole = true
  }

  /// Passes frames of silence to libsndfile that `frameCount` does not count; returns the error if
  /// this fails.
  private func appendSilence(_ frames: Int) -> SystemError? {
    guard frames > 0 else { return nil }
    let silence = [Float](repeating: 0, count: frames * channelCount)
    errno = 0
    let written = Int(sf_writef_float(pointer, silence, sf_count_t(frames)))
    let error = SystemError.last
    guard written < frames || error.isRefusedWrite else { return nil }
    return error.number == 0 ? SystemError(number: EIO) : error
  }

  private func appendPiece(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    let offset = lseek(descriptor, 0, SEEK_CUR)
    errno = 0
    let written = max(0, hand(samples, frames: frames, scratch: scratch))
    let error = SystemError.last
    try? encodedTags?.rewriteBeginning(descriptor)
    // libsndfile does not report the data that an MP3 encoder failed to write.
    isBroken = written < frames || error.isRefusedWrite
    if written < frames || !isBroken { frameCount += written }
    acceptedFrameCount = frameCount
    guard isBroken else { return }
    // A partial frame or block is useless.
    if isContainer {
      OutputBytes.cut(descriptor, at: offset + written * channelCount * sampleFormat.byteCount)
      try? refreshCounting()
    } else {
      OutputBytes.cut(descriptor, at: offset)
      endWithWholeBlock()
    }
    if let length = fileFormat == .flac ? FLACLength(descriptor) : nil {
      frameCount = length.codedFrameCount(of: frameCount)
      try? length.writeFrameCount(frameCount)
      refreshedFrameCount = frameCount
    } else {
      countKept()
    }
    throw error.number == 0 ? SystemError(number: EIO) : error
  }

  /// Sets `frameCount` to the number of frames in the file, after a write failed.
  private func countKept() {
    if fileFormat == .flac {
      frameCount = min(frameCount, FLACLength(descriptor)?.headerFrameCount ?? frameCount)
    } else if fileFormat == .opus {
      frameCount = min(
        frameCount, OpusLength.frameCount(in: descriptor, sampleRate: sampleRate))
    } else if fileFormat == .mp3 {
      frameCount = min(acceptedFrameCount, MP3End(of: descriptor)?.frameCount ?? 0)
    }
  }

  /// Cuts off a block at the end of an MP3 file of which only a part is there.
  private func endWithWholeBlock() {
    guard fileFormat == .mp3, let end = MP3End(of: descriptor) else { return }
    OutputBytes.cut(descriptor, at: end.byteCount)
  }

  /// Passes frames to libsndfile; returns the number of frames that it accepted.
  private func hand(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) -> Int {
    let count = frames * channelCount
    guard sampleFormat == .float else {
      let integers = scratch.assumingMemoryBound(to: Int32.self)
      sampleFormat.widen(samples, count: count, into: integers)
      return Int(sf_writef_int(pointer, integers, sf_count_t(frames)))
    }
    let floats = scratch.assumingMemoryBound(to: Float.self)
    // A file of floats can hold infinity, but infinity would break an encoder permanently.
    let isGuarded = fileFormat.isLossy
    for index in 0..<count {
      let sample = numbered(samples[index])
      floats[index] = isGuarded ? min(max(sample, -8), 8) : sample
    }
    order.restore(floats, frames: frames)
    return Int(sf_writef_float(pointer, floats, sf_count_t(frames)))
  }
}

/// The length of the sample chunk (`SSND`) of an AIFF file. When libsndfile completes a file of an
/// odd length, it counts the pad byte after the chunk, which does not belong to the chunk.
enum AIFFLength {
  /// Writes the length of the chunk whose `byteCount` bytes of samples end at `end` into its
  /// header. Changes nothing if there is no such chunk or if the length does not fit into 32 bits.
  static func writeLength(_ byteCount: Int, endingAt end: Int, in descriptor: Int32) {
    // The name and the length are followed by two numbers that belong to the chunk.
    let offset = end - byteCount - 16
    guard byteCount + 8 <= Int(UInt32.max), offset >= 0,
      OutputBytes.bytes(at: offset, count: 4, of: descriptor).identifier(at: 0) == "SSND"
    else { return }
    try? OutputBytes.write(
      [UInt8](byteCount + 8, 4, bigEndian: true), at: offset + 4, to: descriptor)
  }
}

/// The number of frames in the header of a FLAC file, kept up to date while the file is written:
/// the encoder writes this number only at the end, and readers treat a file without it as endless.
struct FLACLength {
  private let descriptor: Int32
  private let information: FLACInformation
  private static let informationPlace = 8

  /// Reads the header of the file; nil before the first frame, when there is no header yet.
  init?(_ descriptor: Int32) {
    let byteCount = Self.informationPlace + FLACInformation.byteCount
    let head = OutputBytes.bytes(at: 0, count: byteCount, of: descriptor)
    guard head.count == byteCount, SoundContainer(beginning: head) == .flac, head[4] & 0x7F == 0,
      let information = FLACInformation(Array(head[Self.informationPlace...]))
    else { return nil }
    self.descriptor = descriptor
    self.information = information
  }

  /// Returns the number of frames that are certainly in the file when the encoder has received
  /// `frameCount` frames. The encoder writes a block as soon as it has received that block and one
  /// more frame, because the last block is treated differently.
  func codedFrameCount(of frameCount: Int) -> Int {
    let blockFrames = information.blockFrames
    return blockFrames > 0 ? max(0, frameCount - 1) / blockFrames * blockFrames : 0
  }

  /// The number of frames in the header; 0 if the header does not contain it.
  var headerFrameCount: Int { information.frames }

  /// Writes `frameCount` into the header. The descriptor's offset does not change.
  func writeFrameCount(_ frameCount: Int) throws(SystemError) {
    try OutputBytes.write(
      information.packed(frames: frameCount),
      at: Self.informationPlace + FLACInformation.packedOffset, to: descriptor)
  }
}

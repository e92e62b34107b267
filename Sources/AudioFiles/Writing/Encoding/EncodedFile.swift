import CSndFile
import Glibc

/// A file being written through libsndfile: compressed formats, and containers of others.
final class EncodedFile: SampleSink {
  private var handle: SoundFileHandle?
  private let pointer: OpaquePointer
  let descriptor: Int32
  private let fileFormat: FileFormat
  private let sampleFormat: FileSampleFormat
  private let sampleRate: Int
  private let channelCount: Int
  private let order: ChannelOrder
  private var refreshedFrameCount = 0
  /// Whether a write failed: what is not in the file then is known already.
  private var isBroken = false
  private(set) var frameCount = 0
  var notes: RecordingNotes

  /// What an encoder takes at a time: no more than a FLAC block, so that a failure loses one.
  private static let pieceFrameCount = 1024

  /// Begins an empty file behind `descriptor`.
  init(
    _ descriptor: consuming FileDescriptor, _ request: SinkRequest
  ) throws(SoundFileRefusal) {
    var info = SF_INFO()
    info.samplerate = Int32(request.sampleRate)
    info.channels = Int32(request.channelCount)
    info.format = request.fileFormat.code(request.sampleFormat)
    let opened = try SoundFileHandle(writing: descriptor, info: &info)
    switch request.fileFormat {
    // Transparent to nearly every ear: 190 to 260 kbit/s for stereo music.
    case .mp3: opened.set(Int(SFC_SET_VBR_ENCODING_QUALITY), 0.8)
    case .opus:
      opened.set(Int(SFC_SET_VBR_ENCODING_QUALITY), 0.35)
      // Milliseconds that a crash may cost.
      opened.set(Int(SFC_SET_OGG_PAGE_LATENCY_MS), 200)
    default: break
    }
    opened.set(request.tags)
    pointer = opened.pointer
    self.descriptor = opened.descriptor
    fileFormat = request.fileFormat
    sampleFormat = request.sampleFormat
    sampleRate = request.sampleRate
    channelCount = request.channelCount
    order = ChannelOrder(request.fileFormat, channelCount: request.channelCount)
    notes = RecordingNotes(request.tags)
    handle = consume opened
    // With the tags in it. The encoders' own come with the first samples.
    if isContainer { sf_command(pointer, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
  }

  deinit {
    try? close()
  }

  /// Whether the samples lie in it as they are.
  private var isContainer: Bool {
    switch fileFormat {
    case .aiff, .caf, .w64: true
    case .wav, .rf64, .raw, .flac, .ogg, .opus, .mp3: false
    }
  }

  var isReadable: Bool {
    switch fileFormat {
    case .flac: (FLACLength(descriptor)?.told ?? 0) > 0
    case .opus: EncodedBeginning.holdsOpusPage(descriptor)
    case .mp3: EncodedBeginning.holdsMP3Blocks(descriptor, end: lseek(descriptor, 0, SEEK_CUR))
    case .wav, .rf64, .w64, .aiff, .caf, .ogg, .raw: true
    }
  }

  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    let most = isContainer ? frames : Self.pieceFrameCount
    var done = 0
    while done < frames {
      let count = min(frames - done, most)
      try appendPiece(samples + done * channelCount, frames: count, scratch: scratch)
      done += count
    }
    // Samples that the head does not tell of look like chunks to some readers, who then give up.
    if isContainer { try refreshCounting() }
  }

  /// The same for a container, of which only what its head tells of counts.
  private func refreshCounting() throws(SystemError) {
    do throws(SystemError) {
      try refresh()
    } catch {
      frameCount = refreshedFrameCount
      throw error
    }
  }

  func refresh() throws(SystemError) {
    guard frameCount != refreshedFrameCount else { return }
    if fileFormat == .flac, let length = FLACLength(descriptor) {
      try length.tell(length.codedFrameCount(of: frameCount))
    } else if isContainer {
      errno = 0
      sf_command(pointer, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
      guard errno == 0 else { throw .last }
    }
    refreshedFrameCount = frameCount
  }

  func synchronize() throws(SystemError) {
    try OutputBytes.synchronize(descriptor)
  }

  func close() throws(SystemError) {
    guard let handle = handle.take() else { return }
    try? refresh()
    let place = lseek(descriptor, 0, SEEK_CUR)
    var isWhole = false
    defer {
      // Only what the head of a container tells of counts.
      if !isWhole, isContainer { frameCount = refreshedFrameCount }
    }
    try handle.close { error in
      // libsndfile does not say when the last block of an encoder was refused.
      let length = fileFormat == .flac ? FLACLength(descriptor) : nil
      let isComplete = length.map { $0.told == frameCount } ?? !error.isRefusedWrite
      // Nor is there any use in what follows a block that is missing.
      let isCut = isBroken && fileFormat != .flac
      if !isComplete || isCut, !isContainer { OutputBytes.cut(descriptor, at: place) }
      if fileFormat == .aiff {
        let byteCount = frameCount * channelCount * sampleFormat.byteCount
        AIFFLength.tell(byteCount, endingAt: place, in: descriptor)
      }
      if !isComplete { countKept() }
      return isComplete || isBroken
    }
    isWhole = true
  }

  private func appendPiece(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    let place = lseek(descriptor, 0, SEEK_CUR)
    errno = 0
    let written = max(0, hand(samples, frames: frames, scratch: scratch))
    let error = SystemError.last
    // libsndfile does not count what an MP3 encoder could not put down.
    isBroken = written < frames || error.isRefusedWrite
    if written < frames || !isBroken { frameCount += written }
    guard isBroken else { return }
    // Part of a frame or block is no use to anybody.
    if isContainer {
      OutputBytes.cut(descriptor, at: place + written * channelCount * sampleFormat.byteCount)
      try? refreshCounting()
    } else {
      OutputBytes.cut(descriptor, at: place)
    }
    if let length = fileFormat == .flac ? FLACLength(descriptor) : nil {
      frameCount = length.codedFrameCount(of: frameCount)
      try? length.tell(frameCount)
      refreshedFrameCount = frameCount
    } else {
      countKept()
    }
    throw error.number == 0 ? SystemError(number: EIO) : error
  }

  /// Counts what is in the file, after a write that was refused.
  private func countKept() {
    if fileFormat == .flac {
      frameCount = min(frameCount, FLACLength(descriptor)?.told ?? frameCount)
    } else if fileFormat == .opus {
      frameCount = min(
        frameCount, OpusLength.frameCount(in: descriptor, sampleRate: sampleRate))
    }
  }

  /// Hands frames to libsndfile; returns how many it took.
  private func hand(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) -> Int {
    let count = frames * channelCount
    guard sampleFormat == .float else {
      let words = scratch.assumingMemoryBound(to: Int32.self)
      sampleFormat.widen(samples, count: count, into: words)
      return Int(sf_writef_int(pointer, words, sf_count_t(frames)))
    }
    let floats = scratch.assumingMemoryBound(to: Float.self)
    // Infinity passes into a file of floats, but would break an encoder for good.
    let isGuarded = fileFormat.isLossy
    for index in 0..<count {
      let sample = numbered(samples[index])
      floats[index] = isGuarded ? min(max(sample, -8), 8) : sample
    }
    order.restore(floats, frames: frames)
    return Int(sf_writef_float(pointer, floats, sf_count_t(frames)))
  }
}

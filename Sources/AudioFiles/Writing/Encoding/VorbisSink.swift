import CSndFile
import CVorbisFile
import Glibc

/// An Ogg Vorbis file being written.
final class VorbisSink: SampleSink {
  let descriptor: Int32
  private let encoder: VorbisEncoder
  /// The number of frames in the pages written to the file.
  private var pagedFrameCount = 0
  private var byteCount = 0
  /// The error of the first page that could not be written; later pages would be useless.
  private var writeError: SystemError?
  private(set) var isOpen = true
  private(set) var frameCount = 0
  var notes: RecordingNotes

  /// Starts the empty file that `descriptor` refers to with the header pages of `encoder`.
  init(
    _ descriptor: consuming FileDescriptor, _ encoder: VorbisEncoder, notes: RecordingNotes
  ) throws(SoundFileRefusal) {
    self.encoder = encoder
    self.notes = notes
    self.descriptor = descriptor.release()
    do throws(SystemError) {
      try writePages(early: true)
    } catch {
      throw .system(error)
    }
  }

  deinit {
    if isOpen { try? close() }
  }

  var isReadable: Bool { pagedFrameCount > 0 }

  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    try checkOpen()
    if let writeError { throw writeError }
    guard frames > 0 else { return }
    encoder.take(samples, frames: frames)
    frameCount += frames
    try writePages(early: false)
  }

  func refresh() throws(SystemError) {
    try checkOpen()
    if writeError == nil { try writePages(early: true) }
  }

  func close() throws(SystemError) {
    guard isOpen else { return }
    isOpen = false
    var failure: SystemError?
    if writeError == nil {
      encoder.end()
      do throws(SystemError) {
        try writePages(early: true)
      } catch {
        failure = error
      }
    }
    if Glibc.close(descriptor) != 0, failure == nil { failure = .last }
    if let failure { throw failure }
  }

  private func writePages(early: Bool) throws(SystemError) {
    while let page = encoder.nextPage(early: early) {
      for part in [page.head, page.body] {
        guard let base = part.baseAddress else { continue }
        guard let error = OutputBytes.write(base, count: part.count, to: descriptor).error else {
          continue
        }
        // A partial page is useless, and so is a page after a missing one.
        OutputBytes.cut(descriptor, at: byteCount)
        writeError = error
        frameCount = pagedFrameCount
        throw error
      }
      byteCount += page.head.count + page.body.count
      pagedFrameCount = max(pagedFrameCount, page.frameCount)
    }
  }
}

/// An encoder that turns samples into pages of an Ogg Vorbis stream. libsndfile writes Vorbis, too,
/// but holds back many seconds of quiet music until a page is full.
final class VorbisEncoder {
  // These structures point at each other and must not move.
  private let information = UnsafeMutablePointer<vorbis_info>.allocate(capacity: 1)
  private let comments = UnsafeMutablePointer<vorbis_comment>.allocate(capacity: 1)
  private let analysis = UnsafeMutablePointer<vorbis_dsp_state>.allocate(capacity: 1)
  private let block = UnsafeMutablePointer<vorbis_block>.allocate(capacity: 1)
  private let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
  private let channelCount: Int
  private let order: ChannelOrder

  /// Transparent to nearly every listener: 190 to 260 kbit/s for stereo music.
  private static let quality: Float = 0.8

  /// Throws if the encoder has no settings for this rate and number of channels.
  init(
    sampleRate: Int, channelCount: Int, speakers: [Speaker]?, tags: SoundFileTags
  ) throws(SoundFileRefusal) {
    self.channelCount = channelCount
    order = ChannelOrder(vorbisChannels: channelCount)
    vorbis_info_init(information)
    vorbis_comment_init(comments)
    var answer = vorbis_encode_setup_vbr(information, channelCount, sampleRate, Self.quality)
    let isSurround = Speaker.isSurround(speakers)
    if answer == 0, channelCount > 2, !isSurround {
      // The settings for coupled surround sound keep only the low frequencies of the channel of a
      // subwoofer. Microphones have no loudspeakers, so their channels are coded independently.
      var isCoupled: Int32 = 0
      answer = vorbis_encode_ctl(information, OV_ECTL_COUPLING_SET, &isCoupled)
    }
    if answer == 0 { answer = vorbis_encode_setup_init(information) }
    analysis.initialize(to: vorbis_dsp_state())
    block.initialize(to: vorbis_block())
    stream.initialize(to: ogg_stream_state())
    guard answer == 0 else {
      throw .encoder("the encoder cannot take \(channelCount) channels at \(sampleRate) Hz")
    }
    vorbis_analysis_init(analysis, information)
    vorbis_block_init(analysis, block)
    // The serial numbers distinguish the streams in one file.
    ogg_stream_init(stream, Int32.random(in: 0 ... .max))
    vorbis_comment_add_tag(comments, "ENCODER", SoundFileTags.software)
    if channelCount > 2, !isSurround {
      vorbis_comment_add_tag(comments, ChannelMask.comment, ChannelMask.noSpeakers)
    }
    for (field, text) in tags.nonempty { vorbis_comment_add_tag(comments, field.comment, text) }
    takeHeaders()
  }

  deinit {
    ogg_stream_clear(stream)
    vorbis_block_clear(block)
    vorbis_dsp_clear(analysis)
    vorbis_comment_clear(comments)
    vorbis_info_clear(information)
    stream.deallocate()
    block.deallocate()
    analysis.deallocate()
    comments.deallocate()
    information.deallocate()
  }

  /// Encodes interleaved frames, at least one.
  func take(_ samples: UnsafePointer<Float>, frames: Int) {
    guard let planes = vorbis_analysis_buffer(analysis, Int32(frames)) else { return }
    for channel in 0..<channelCount {
      guard let plane = planes[order.source(of: channel)] else { continue }
      for frame in 0..<frames {
        // Infinity would break the encoder permanently.
        plane[frame] = min(max(numbered(samples[frame * channelCount + channel]), -8), 8)
      }
    }
    vorbis_analysis_wrote(analysis, Int32(frames))
    encode()
  }

  /// Ends the stream: no frames follow.
  func end() {
    vorbis_analysis_wrote(analysis, 0)
    encode()
  }

  /// Returns the next page if one is full or, with `early`, if there is any data for one; nil
  /// otherwise. The page is valid until the next call.
  func nextPage(early: Bool) -> EncodedPage? {
    var page = ogg_page()
    let isThere = early ? ogg_stream_flush(stream, &page) : ogg_stream_pageout(stream, &page)
    guard isThere != 0 else { return nil }
    return EncodedPage(
      head: UnsafeRawBufferPointer(start: page.header, count: page.header_len),
      body: UnsafeRawBufferPointer(start: page.body, count: page.body_len),
      frameCount: Int(ogg_page_granulepos(&page)))
  }

  private func takeHeaders() {
    var (first, second, third) = (ogg_packet(), ogg_packet(), ogg_packet())
    vorbis_analysis_headerout(analysis, comments, &first, &second, &third)
    ogg_stream_packetin(stream, &first)
    ogg_stream_packetin(stream, &second)
    ogg_stream_packetin(stream, &third)
  }

  private func encode() {
    var packet = ogg_packet()
    while vorbis_analysis_blockout(analysis, block) == 1 {
      vorbis_analysis(block, nil)
      vorbis_bitrate_addblock(block)
      while vorbis_bitrate_flushpacket(analysis, &packet) != 0 {
        ogg_stream_packetin(stream, &packet)
      }
    }
  }
}

/// A page of an Ogg stream, in memory that the encoder owns.
struct EncodedPage {
  let head: UnsafeRawBufferPointer
  let body: UnsafeRawBufferPointer
  /// The number of audio frames up to the end of the page; -1 if no packet ends in it.
  let frameCount: Int
}

/// The tags of a file that libsndfile writes.
extension SoundFileHandle {
  /// Sets the tags of the file. Call it before the first sample is written.
  func set(_ tags: SoundFileTags) {
    for (field, text) in tags.nonempty { sf_set_string(pointer, Int32(field.code), text) }
    sf_set_string(pointer, Int32(SF_STR_SOFTWARE), SoundFileTags.software)
  }
}

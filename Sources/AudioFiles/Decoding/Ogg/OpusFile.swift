import COpusFile

/// An Opus stream opened by libopusfile. It is closed when this object is released. The sample rate
/// of Opus is always 48,000 Hz.
final class OpusFile: OggFile {
  private let file: OpaquePointer
  /// A reference for the callbacks of libopusfile, which do not retain it.
  private let bytes: ValidatedOggBytes
  private var stream: Int32 = -1
  private var order = ChannelOrder(asIs: 0)

  let sampleRate = 48000
  let channelCount: Int
  let frameCount: Int?
  let bitRate: Int?
  var isNewStream = false
  private(set) var isForeign = false
  var hole: Int?
  var framePosition: Int { Int(op_pcm_tell(file)) }
  var endsWithinPage: Bool { bytes.endsWithinPage }
  var lacksEnd: Bool { bytes.lacksEnd }
  /// Whether mono and stereo streams may follow each other. In this case all are read as stereo.
  private let isMixed: Bool

  /// The number of frames (1 s) decoded before the target of a seek, after which the output no
  /// longer depends audibly on the earlier state. The 80 ms of the standard (RFC 7845, section 4.6)
  /// leave differences of 1/1000.
  private static let prerollFrames = 48000

  /// Opens `bytes`. Returns nil if they are not an Opus stream.
  init?(_ bytes: BufferedBytes) {
    guard let (checked, file) = ValidatedOggBytes.open(bytes, Self.open) else { return nil }
    self.file = file
    self.bytes = checked
    let isSeekable = op_seekable(file) != 0
    let total = isSeekable ? Int(op_pcm_total(file, -1)) : -1
    let rate = isSeekable ? Int(op_bitrate(file, -1)) : -1
    let channels = Int(op_channel_count(file, 0))
    frameCount = total >= 0 ? total : nil
    bitRate = rate > 0 ? rate : nil
    isMixed = channels <= 2 && (!isSeekable || op_link_count(file) > 1)
    channelCount = isMixed ? 2 : channels
    // With dither, each decoding would be slightly different.
    op_set_dither_enabled(file, 0)
  }

  private static func open(
    _ bytes: ValidatedOggBytes
  ) -> (file: OpaquePointer, close: () -> Void)? {
    var callbacks = OpusFileCallbacks()
    callbacks.read = { owner, memory, count in
      Int32(ValidatedOggBytes.of(owner)?.read(memory, Int(count)) ?? 0)
    }
    if bytes.isSeekable {
      callbacks.seek = { owner, offset, origin in
        ValidatedOggBytes.of(owner)?.seek(Int(offset), origin) ?? -1
      }
      callbacks.tell = { Int64(ValidatedOggBytes.of($0)?.bytes.position ?? -1) }
    }
    let owner = Unmanaged.passUnretained(bytes).toOpaque()
    guard let file = op_open_callbacks(owner, &callbacks, nil, 0, nil) else { return nil }
    return (file, { op_free(file) })
  }

  deinit {
    op_free(file)
  }

  var tags: SoundFileTags {
    guard let comments = op_tags(file, -1) else { return SoundFileTags() }
    return SoundFileTags { opus_tags_query(comments, $0, 0).map(SoundFileTags.text) }
  }

  func read(into samples: UnsafeMutablePointer<Float>, frames: Int, channelCount: Int) -> Int {
    var count = OP_HOLE
    var number: Int32 = 0
    let room = Int32(clamping: frames * channelCount)
    // A hole is damage. Audio continues after it.
    while count == OP_HOLE {
      if isMixed {
        count = op_read_float_stereo(file, samples, room)
        number = op_current_link(file)
      } else {
        count = op_read_float(file, samples, room, &number)
      }
      if count == OP_HOLE, bytes.isSeekable {
        hole = framePosition
        return 0
      }
    }
    isForeign = count < 0
    guard count > 0 else { return 0 }
    if number != stream {
      isNewStream = stream >= 0
      stream = number
      takeOrder()
    }
    guard isMixed || Int(op_channel_count(file, -1)) == channelCount else { return 0 }
    order.sort(samples, frames: Int(count))
    return Int(count)
  }

  /// Sets the channel order of the stream. Only mapping family 1 is surround sound. The other
  /// families have one or two channels, channels without a defined position, or ambisonics.
  private func takeOrder() {
    let isSurround = !isMixed && op_head(file, -1)?.pointee.mapping_family == 1
    order =
      isSurround
      ? ChannelOrder(vorbisChannels: channelCount) : ChannelOrder(asIs: channelCount)
  }

  func seek(to frame: Int) -> Bool {
    op_pcm_seek(file, Int64(max(0, frame - Self.prerollFrames))) == 0 && skip(to: frame)
  }
}

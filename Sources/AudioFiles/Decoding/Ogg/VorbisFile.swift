import COpusFile
import CVorbisFile

/// A stream libvorbisfile holds open, until its last user closes it.
final class VorbisFile: OggFile {
  private let file: UnsafeMutablePointer<OggVorbis_File>
  /// Kept, because libvorbisfile's callbacks hold no reference of their own.
  private let bytes: CheckedBytes
  private var stream: Int32 = -1
  private var order = ChannelOrder(asIs: 0)

  private(set) var sampleRate = 0
  private(set) var channelCount = 0
  let frameCount: Int?
  let bitRate: Int?
  var isNewStream = false

  /// Opens `bytes`; nil where they are no Vorbis stream.
  init?(_ bytes: BufferedBytes) {
    guard let (checked, file) = CheckedBytes.open(bytes, Self.open) else { return nil }
    self.file = file
    self.bytes = checked
    let total = checked.isSeekable ? Int(ov_pcm_total(file, -1)) : -1
    frameCount = total >= 0 ? total : nil
    let rate = ov_bitrate(file, checked.isSeekable ? -1 : 0)
    bitRate = rate > 0 ? rate : nil
    takeFormat()
  }

  private static func open(
    _ bytes: CheckedBytes
  ) -> (file: UnsafeMutablePointer<OggVorbis_File>, close: () -> Void)? {
    let file = UnsafeMutablePointer<OggVorbis_File>.allocate(capacity: 1)
    file.initialize(to: OggVorbis_File())
    var callbacks = ov_callbacks()
    callbacks.read_func = { memory, size, count, owner in
      let byteCount = size * count
      return CheckedBytes.of(owner)?.read(memory, byteCount) ?? 0
    }
    if bytes.isSeekable {
      callbacks.seek_func = { owner, offset, origin in
        CheckedBytes.of(owner)?.seek(Int(offset), origin) ?? -1
      }
      callbacks.tell_func = { CheckedBytes.of($0)?.bytes.position ?? -1 }
    }
    let owner = Unmanaged.passUnretained(bytes).toOpaque()
    guard ov_open_callbacks(owner, file, nil, 0, callbacks) == 0 else {
      file.deallocate()
      return nil
    }
    return (
      file,
      {
        ov_clear(file); file.deallocate()
      }
    )
  }

  deinit {
    ov_clear(file)
    file.deallocate()
  }

  var tags: SoundFileTags {
    guard let comments = ov_comment(file, -1)?.pointee, let texts = comments.user_comments,
      let lengths = comments.comment_lengths
    else { return SoundFileTags() }
    let lines = (0..<Int(comments.comments)).compactMap { index in
      texts[index].map { text in
        let count = min(Int(lengths[index]), SoundFileTags.longest)
        return String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
      }
    }
    return SoundFileTags { name in
      lines.first { $0.prefix(name.count + 1).uppercased() == "\(name)=" }
        .map { String($0.dropFirst(name.count + 1)) }
    }
  }

  func read(into samples: UnsafeMutablePointer<Float>, frames: Int, channelCount: Int) -> Int {
    var planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>?
    var number = stream
    var count = Int(OV_HOLE)
    // A hole is damage; what follows it is sound again.
    while count == Int(OV_HOLE) {
      count = ov_read_float(file, &planes, Int32(clamping: frames), &number)
    }
    guard count > 0, let planes else { return 0 }
    if number != stream {
      isNewStream = stream >= 0
      stream = number
      takeFormat()
    }
    guard self.channelCount == channelCount else { return 0 }
    for channel in 0..<channelCount {
      guard let plane = planes[order.source(of: channel)] else { continue }
      for frame in 0..<count { samples[frame * channelCount + channel] = plane[frame] }
    }
    return count
  }

  func seek(to frame: Int) -> Bool {
    ov_pcm_seek(file, Int64(frame)) == 0
  }

  private func takeFormat() {
    guard let info = ov_info(file, -1) else { return }
    sampleRate = info.pointee.rate
    channelCount = Int(info.pointee.channels)
    order = ChannelOrder(vorbisChannels: channelCount)
  }
}

/// The bytes that a library reads, looked at before.
private final class CheckedBytes {
  let bytes: BufferedBytes
  /// Whether the library may go about in them.
  let isSeekable: Bool
  private let headers = OggHeaderCheck()

  private init(_ bytes: BufferedBytes, isSeekable: Bool) {
    self.bytes = bytes
    self.isSeekable = isSeekable
    headers.keepsAll = isSeekable
  }

  /// What `open` gives, which keeps the headers of all streams where one can go about in them; where
  /// these would be too many, what it gives for bytes that can only be read from their beginning to
  /// their end, one stream after the other.
  static func open<File>(
    _ bytes: BufferedBytes, _ open: (CheckedBytes) -> (file: File, close: () -> Void)?
  ) -> (CheckedBytes, File)? {
    let start = bytes.position
    let checked = CheckedBytes(bytes, isSeekable: bytes.isSeekable)
    let opened = open(checked)
    if case .chain? = checked.headers.refusal {
      opened?.close()
      bytes.position = start
      let oneWay = CheckedBytes(bytes, isSeekable: false)
      return open(oneWay).map { (oneWay, $0.file) }
    }
    // What comes later takes the place of what came before.
    checked.headers.keepsAll = false
    return opened.map { (checked, $0.file) }
  }

  static func of(_ owner: UnsafeMutableRawPointer?) -> CheckedBytes? {
    owner.map { Unmanaged<CheckedBytes>.fromOpaque($0).takeUnretainedValue() }
  }

  func read(_ memory: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    let read = headers.refusal == nil ? bytes.readForCallback(memory, count, isWhole: false) : 0
    guard read > 0, !headers.accepts(UnsafeRawBufferPointer(start: memory, count: read)) else {
      return read
    }
    if case .chain? = headers.refusal { return 0 }
    bytes.fail(.oggHeaders(bytes.name, headers.refusal))
    return 0
  }

  func seek(_ offset: Int, _ origin: Int32) -> Int32 {
    guard headers.refusal == nil else { return -1 }
    headers.jump()
    return bytes.seekForCallback(offset, origin)
  }
}

extension FileFailure {
  /// Headers that a library must not see.
  static func oggHeaders(_ name: String, _ refusal: OggHeaderCheck.Refusal?) -> FileFailure {
    let fault =
      switch refusal {
      case .comments: "has comments of more than \(OggHeaderCheck.longestComments >> 20) MiB"
      case .streams:
        "begins more than \(OggHeaderCheck.mostStreams) streams at the same time"
      case .books, .chain, nil: "announces larger Vorbis code books than any encoder writes"
      }
    return FileFailure(
      .unusableContents, "\(name) \(fault).",
      hint: "It is damaged, or made to do harm: look for another copy of it.")
  }
}

/// A stream libopusfile holds open, until it is not needed. Opus is always 48,000 frames a second.
final class OpusFile: OggFile {
  private let file: OpaquePointer
  /// Kept, because libopusfile's callbacks hold no reference of their own.
  private let bytes: CheckedBytes
  private var stream: Int32 = -1
  private var order = ChannelOrder(asIs: 0)

  let sampleRate = 48000
  let channelCount: Int
  let frameCount: Int?
  let bitRate: Int?
  var isNewStream = false
  /// Whether mono and stereo streams may follow each other: all are read as stereo.
  private let isMixed: Bool

  /// Frames before the one gone to, after which two decoders no longer differ audibly: a second. The
  /// standard's 80 ms (RFC 7845, section 4.6) leave differences of a thousandth.
  private static let prerollFrames = 48000

  /// Opens `bytes`; nil where they are no Opus stream.
  init?(_ bytes: BufferedBytes) {
    guard let (checked, file) = CheckedBytes.open(bytes, Self.open) else { return nil }
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
    // Dither would make each decoding a little different.
    op_set_dither_enabled(file, 0)
  }

  private static func open(
    _ bytes: CheckedBytes
  ) -> (file: OpaquePointer, close: () -> Void)? {
    var callbacks = OpusFileCallbacks()
    callbacks.read = { owner, memory, count in
      Int32(CheckedBytes.of(owner)?.read(memory, Int(count)) ?? 0)
    }
    if bytes.isSeekable {
      callbacks.seek = { owner, offset, origin in
        CheckedBytes.of(owner)?.seek(Int(offset), origin) ?? -1
      }
      callbacks.tell = { Int64(CheckedBytes.of($0)?.bytes.position ?? -1) }
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
    // A hole is damage; what follows it is sound again.
    while count == OP_HOLE {
      if isMixed {
        count = op_read_float_stereo(file, samples, room)
        number = op_current_link(file)
      } else {
        count = op_read_float(file, samples, room, &number)
      }
    }
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

  /// Other families than the first have no surround sound: up to two channels, or any number of them
  /// without a meaning, or a sphere of sound.
  private func takeOrder() {
    let isSurround = !isMixed && op_head(file, -1)?.pointee.mapping_family == 1
    order =
      isSurround
      ? ChannelOrder(vorbisChannels: channelCount) : ChannelOrder(asIs: channelCount)
  }

  func seek(to frame: Int) -> Bool {
    var rest = min(frame, Self.prerollFrames)
    guard op_pcm_seek(file, Int64(frame - rest)) == 0 else { return false }
    var unwanted = [Float](repeating: 0, count: 960 * channelCount)
    while rest > 0 {
      let count = unwanted.withUnsafeMutableBufferPointer { samples in
        samples.baseAddress.map {
          read(into: $0, frames: min(rest, 960), channelCount: channelCount)
        } ?? 0
      }
      guard count > 0 else { return false }
      rest -= count
    }
    return true
  }
}

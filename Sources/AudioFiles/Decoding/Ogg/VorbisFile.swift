import CVorbisFile

/// A stream libvorbisfile holds open, until nobody needs it.
final class VorbisFile: OggFile {
  private let file: UnsafeMutablePointer<OggVorbis_File>
  /// Kept, because libvorbisfile's callbacks hold no reference of their own.
  private let bytes: BufferedBytes
  private var stream: Int32 = -1
  private var order = ChannelOrder(asIs: 0)

  private(set) var sampleRate = 0
  private(set) var channelCount = 0
  let frameCount: Int?
  let bitRate: Int?
  var isNewStream = false

  /// Opens `bytes`; nil where they are no Vorbis stream.
  init?(_ bytes: BufferedBytes) {
    let file = UnsafeMutablePointer<OggVorbis_File>.allocate(capacity: 1)
    file.initialize(to: OggVorbis_File())
    var callbacks = ov_callbacks()
    callbacks.read_func = { memory, size, count, owner in
      let byteCount = size * count
      return BufferedBytes.of(owner)?.readForCallback(memory, byteCount, isWhole: false) ?? 0
    }
    if bytes.isSeekable {
      callbacks.seek_func = { owner, offset, origin in
        BufferedBytes.of(owner)?.seekForCallback(Int(offset), origin) ?? -1
      }
      callbacks.tell_func = { BufferedBytes.of($0)?.position ?? -1 }
    }
    let owner = Unmanaged.passUnretained(bytes).toOpaque()
    guard ov_open_callbacks(owner, file, nil, 0, callbacks) == 0 else {
      file.deallocate()
      return nil
    }
    self.file = file
    self.bytes = bytes
    let total = bytes.isSeekable ? Int(ov_pcm_total(file, -1)) : -1
    frameCount = total >= 0 ? total : nil
    let rate = ov_bitrate(file, bytes.isSeekable ? -1 : 0)
    bitRate = rate > 0 ? rate : nil
    takeFormat()
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
        let bytes = UnsafeRawBufferPointer(start: text, count: Int(lengths[index]))
        return String(decoding: bytes, as: UTF8.self)
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

extension SoundFileTags {
  /// The tags among Vorbis comments (https://xiph.org/vorbis/doc/v-comment.html), found by name.
  init(_ comment: (String) -> String?) {
    title = comment("TITLE")
    artist = comment("ARTIST")
    album = comment("ALBUM")
    self.comment = comment("COMMENT") ?? comment("DESCRIPTION")
    date = comment("DATE")
  }
}

import CVorbisFile

/// A Vorbis stream opened by libvorbisfile. It is closed when this object is released.
final class VorbisFile: OggFile {
  private let file: UnsafeMutablePointer<OggVorbis_File>
  /// A reference for the callbacks of libvorbisfile, which do not retain it.
  private let bytes: ValidatedOggBytes
  private var stream: Int32 = -1
  private var order = ChannelOrder(asIs: 0)

  private(set) var sampleRate = 0
  private(set) var channelCount = 0
  let frameCount: Int?
  let bitRate: Int?
  var isNewStream = false
  private(set) var isForeign = false
  var hole: Int?
  var framePosition: Int { Int(ov_pcm_tell(file)) }
  var endsWithinPage: Bool { bytes.endsWithinPage }
  var lacksEnd: Bool { bytes.lacksEnd }

  /// Opens `bytes`. Returns nil if they are not a Vorbis stream.
  init?(_ bytes: BufferedBytes) {
    guard let (checked, file) = ValidatedOggBytes.open(bytes, Self.open) else { return nil }
    self.file = file
    self.bytes = checked
    let total = checked.isSeekable ? Int(ov_pcm_total(file, -1)) : -1
    frameCount = total >= 0 ? total : nil
    // If the audio of the first stream has only one page, the library starts after it.
    if total > 0, ov_pcm_tell(file) != 0 { ov_pcm_seek(file, 0) }
    let rate = ov_bitrate(file, checked.isSeekable ? -1 : 0)
    bitRate = rate > 0 ? rate : nil
    takeFormat()
  }

  private static func open(
    _ bytes: ValidatedOggBytes
  ) -> (file: UnsafeMutablePointer<OggVorbis_File>, close: () -> Void)? {
    let file = UnsafeMutablePointer<OggVorbis_File>.allocate(capacity: 1)
    file.initialize(to: OggVorbis_File())
    var callbacks = ov_callbacks()
    callbacks.read_func = { memory, size, count, owner in
      let byteCount = size * count
      return ValidatedOggBytes.of(owner)?.read(memory, byteCount) ?? 0
    }
    if bytes.isSeekable {
      callbacks.seek_func = { owner, offset, origin in
        ValidatedOggBytes.of(owner)?.seek(Int(offset), origin) ?? -1
      }
      callbacks.tell_func = { ValidatedOggBytes.of($0)?.bytes.position ?? -1 }
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

  var tags: SoundFileTags { SoundFileTags(comment) }

  var speakers: [Speaker]? {
    ChannelMask.speakers(comment: comment(ChannelMask.comment), channelCount: channelCount)
  }

  /// Returns the text of the first comment with this name.
  private func comment(_ name: String) -> String? {
    guard let comments = ov_comment(file, -1)?.pointee, let texts = comments.user_comments,
      let lengths = comments.comment_lengths
    else { return nil }
    let lines = (0..<Int(comments.comments)).lazy.compactMap { index in
      texts[index].map { text in
        let count = min(Int(lengths[index]), SoundFileTags.maximumByteCount)
        return String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
      }
    }
    return lines.first { $0.prefix(name.count + 1).uppercased() == "\(name)=" }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  func read(into samples: UnsafeMutablePointer<Float>, frames: Int, channelCount: Int) -> Int {
    var planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>?
    var number = stream
    var count = Int(OV_HOLE)
    // A hole is damage. Audio continues after it.
    while count == Int(OV_HOLE) {
      count = ov_read_float(file, &planes, Int32(clamping: frames), &number)
      if count == Int(OV_HOLE), resyncAfterGap() { return 0 }
    }
    isForeign = count < 0
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

  /// Restarts at the page after the missing ones, because the library knows its position only
  /// there. Returns false if the source is not seekable.
  private func resyncAfterGap() -> Bool {
    guard bytes.isSeekable else { return false }
    let end = Int(ov_raw_tell(file))
    let page = try? OggPageHead.last(in: bytes.bytes, before: end)
    let start = page.flatMap { $0.end == end ? $0.start : nil } ?? end
    guard ov_raw_seek(file, Int64(start)) == 0 else { return false }
    hole = framePosition
    return true
  }

  func seek(to frame: Int) -> Bool {
    guard ov_pcm_seek(file, Int64(frame)) == 0 else { return false }
    if framePosition == frame { return true }
    // Pages are missing at the target.
    return ov_pcm_seek_page(file, Int64(frame)) == 0 && skip(to: frame)
  }

  private func takeFormat() {
    guard let info = ov_info(file, -1) else { return }
    sampleRate = info.pointee.rate
    channelCount = Int(info.pointee.channels)
    order = ChannelOrder(vorbisChannels: channelCount)
  }
}

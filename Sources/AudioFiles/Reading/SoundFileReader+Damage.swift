import CSndFile

/// The damage found in a FLAC file. The decoder of libsndfile stops at a damaged frame and does not
/// continue after it, so it is opened again and seeks to the next frame that it can decode.
struct FLACDamage {
  /// The frame up to which silence replaces damaged data.
  var silenceEnd = 0
  /// Whether a frame after damaged data was decoded.
  var isFound = false
  /// The frame from which on no frame can be decoded.
  var end = Int.max
  /// The number of frames that may still be tried in searches. A maliciously made file has damage
  /// everywhere.
  var attempts = 1000
}

/// A search for the first block that can be decoded: with steps that double up to a block that can,
/// and then between this block and the last one that cannot.
struct DecodableBlockSearch {
  private var damaged: Int
  private(set) var found: Int?
  private let end: Int
  private var step = 1

  /// Searches from the block after `damaged` to the one before `end`.
  init(after damaged: Int, before end: Int) {
    self.damaged = damaged
    self.end = end
  }

  /// The block to decode next; nil at the end of the search.
  var next: Int? {
    let upper = found ?? end
    guard damaged + 1 < upper else { return nil }
    return found == nil ? min(damaged + step, end - 1) : damaged + (upper - damaged) / 2
  }

  /// Notes whether `block` can be decoded.
  mutating func note(_ block: Int, isDecodable: Bool) {
    if isDecodable {
      found = block
    } else {
      damaged = block
      step *= 2
    }
  }
}

extension SoundFileReader {
  /// Whether damaged data was replaced by silence.
  var isDamaged: Bool { damage.isFound }

  /// Whether a FLAC file of unknown length has bytes that the decoder did not read: it stopped at
  /// damaged data.
  var endsBeforeItsBytes: Bool {
    guard fileFormat == .flac, frameCount == nil, let byteCount = bytes.byteCount else {
      return false
    }
    return bytes.position < byteCount
  }

  /// Skips damaged data of a FLAC file on disk from `frame` on: prepares the decoder for the next
  /// frame that it can decode, and silence up to this frame. Returns false if there is none.
  mutating func skipDamage(at frame: Int) throws(FileFailure) -> Bool {
    guard canRestart, let frameCount, frame < min(frameCount, damage.end) else { return false }
    let blockFrames = try self.blockFrames
    var search = DecodableBlockSearch(
      after: frame / blockFrames, before: (frameCount + blockFrames - 1) / blockFrames)
    var current: Int?
    while let block = search.next {
      guard damage.attempts > 0 else { return false }
      damage.attempts -= 1
      let isDecodable = try restart(at: block * blockFrames)
      search.note(block, isDecodable: isDecodable)
      current = isDecodable ? block : nil
    }
    guard let found = search.found else {
      damage.end = frame
      return false
    }
    if current != found {
      guard try restart(at: found * blockFrames) else { return false }
    }
    damage.silenceEnd = found * blockFrames
    damage.isFound = true
    return true
  }

  /// Prepares the decoder of a FLAC file on disk for `frame` or, if this one is damaged, for the
  /// next frame that it can decode. Returns false if there is none.
  mutating func recover(at frame: Int) throws(FileFailure) -> Bool {
    if try restart(at: frame) { return true }
    return try skipDamage(at: frame)
  }

  /// Opens a FLAC file on disk again, because a decoder that failed does not recover, and seeks to
  /// `frame`. Returns false if this frame cannot be decoded.
  private mutating func restart(at frame: Int) throws(FileFailure) -> Bool {
    guard canRestart else { return false }
    var info = SF_INFO()
    let fresh = try file.open(&info)
    guard Int(info.channels) == channelCount, Int(info.samplerate) == sampleRate else {
      throw .replaced(path)
    }
    handle = fresh
    damage.silenceEnd = 0
    let place = sf_seek(handle.pointer, sf_count_t(frame), SEEK_SET)
    try checkSource()
    return place == sf_count_t(frame)
  }

  private var canRestart: Bool {
    fileFormat == .flac && isSeekable && bytes.source is LocalFile
  }

  /// The number of frames in a block; a small number if it varies.
  private var blockFrames: Int {
    get throws(FileFailure) {
      let start = try bytes.endOfID3Tags(withFooters: false) ?? 0
      let body = try bytes.bytes(at: start + 8, count: FLACInformation.byteCount)
      let frames = FLACInformation(body)?.blockFrames ?? 0
      return frames > 0 ? frames : 256
    }
  }
}

/// How much of a text a file can say of itself.
extension SoundFileTags {
  /// The same as far as a file of `format` holds it: texts that are too long end earlier, as a whole
  /// letter, and none has a character 0 in it, which would end it. Beyond these lengths libsndfile, or
  /// those who read the file, give up.
  public func fitting(_ format: FileFormat) -> SoundFileTags {
    var fitting = self
    fitting.title = format.fit(title, 200)
    fitting.artist = format.fit(artist, 200)
    fitting.album = format.fit(album, 200)
    fitting.comment = format.fit(comment, 600)
    fitting.date = format.fit(date, 40)
    return fitting
  }
}

extension FileFormat {
  /// `text`, at most `waveByteCount` bytes of it in a WAV file, whose header has a fixed length.
  fileprivate func fit(_ text: String?, _ waveByteCount: Int) -> String? {
    guard let text else { return nil }
    let most =
      switch self {
      case .wav, .rf64: waveByteCount
      case .caf: 3000
      case .aiff, .opus: 8000
      case .flac, .ogg, .mp3: 60_000
      // They have no place for tags.
      case .w64, .raw: 0
      }
    guard text.utf8.count > most || text.utf8.contains(0) else { return text }
    return String(decoding: text.bytes(atMost: most), as: UTF8.self)
  }
}

import CSndFile
import Glibc

/// A file that libsndfile writes.
extension SoundFileHandle {
  /// Tells it what the file is to say about itself, before the first sample.
  func set(_ tags: SoundFileTags) {
    let texts = [
      (SF_STR_TITLE, tags.title), (SF_STR_ARTIST, tags.artist), (SF_STR_ALBUM, tags.album),
      (SF_STR_COMMENT, tags.comment), (SF_STR_DATE, tags.date), (SF_STR_SOFTWARE, "duplex"),
    ]
    for (kind, text) in texts {
      if let text, !text.isEmpty { sf_set_string(pointer, Int32(kind), text) }
    }
  }
}

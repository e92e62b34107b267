/// The endings of file names that sound files have: one list for all that asks.
enum PathExtension {
  /// What those stand for that can be written as well.
  static let written: [String: FileFormat] = [
    "wav": .wav, "wave": .wav, "bwf": .wav, "rf64": .rf64, "w64": .w64, "aiff": .aiff, "aif": .aiff,
    "aifc": .aiff, "caf": .caf, "flac": .flac, "ogg": .ogg, "oga": .ogg, "opus": .opus, "mp3": .mp3,
    "raw": .raw, "pcm": .raw,
  ]

  /// Those that are only read: further MPEG layers, and what else libsndfile knows.
  private static let read: Set<String> = [
    "mp2", "mp1", "mpga", "au", "snd", "voc", "ircam", "sf", "paf", "fap", "svx", "8svx", "iff",
    "nist", "sph", "avr", "pvf", "htk", "sds", "xi", "wve", "wavex", "mat",
  ]

  static let playlists: Set<String> = ["m3u", "m3u8", "pls"]

  /// Whether files of this ending, in lower case, are sound that says by itself what it is.
  static func isSound(_ ending: String) -> Bool {
    read.contains(ending) || written[ending].map { $0 != .raw } ?? false
  }
}

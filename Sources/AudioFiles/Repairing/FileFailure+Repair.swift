/// Why a file cannot be mended.
extension FileFailure {
  /// A part without which nothing can be said is not there.
  static func lost(_ part: String, of kind: String, _ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) begins like a \(kind) file, but its \(part) cannot be found.",
      hint: "Look for another copy of it.")
  }

  /// The samples are of a kind whose length cannot be worked out.
  static func unknownSamples(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) does not say in a way we know how it keeps its samples.",
      hint: "Try ffmpeg -i on it, or look for another copy.")
  }

  /// The file is none that can be mended.
  static func noSoundFile(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) is no sound file that can be mended.",
      hint: "WAV, RF64, Wave64, CAF, AIFF, FLAC, Ogg Vorbis and Opus can.")
  }

  /// Not one frame is whole.
  static func noFrames(_ path: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(path) holds no whole frame of sound.",
      hint: "Look for another copy of it.")
  }
}

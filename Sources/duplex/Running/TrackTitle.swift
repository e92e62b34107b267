import AudioFiles

/// What is known of a track before it sounds: its tags, its length, its bit rate.
struct TrackTitle {
  private let path: String
  private let tags: SoundFileTags?
  private let seconds: Double?
  private let bitRate: Int?

  /// That of the file at `path`; of standard input, or of what is no file, nothing is known.
  init(_ path: String) {
    self.path = path
    guard path != "-", let file = try? SoundFileReader(path: path) else {
      tags = nil
      seconds = nil
      bitRate = nil
      return
    }
    tags = file.tags
    let length = file.frameCount.map { Double($0) / Double(file.sampleRate) }
    seconds = length
    let bytes = TextFile.size(of: path)
    bitRate = length.flatMap { length in
      length > 0 ? bytes.map { Int((Double($0) * 8 / length).rounded()) } : nil
    }
  }

  /// For a person: `Artist - Title (Album), 3:12, 128 kbit/s`, or the file's name where it says
  /// nothing.
  var text: String {
    let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    var text = [tags?.artist, tags?.title ?? (tags?.artist == nil ? name : nil)]
      .compactMap { $0 }.joined(separator: " - ")
    if let album = tags?.album { text += " (\(album))" }
    if let seconds {
      let whole = Int(seconds.rounded())
      let rest = whole % 60
      text += ", \(whole / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
    if let bitRate { text += ", \((bitRate + 500) / 1000) kbit/s" }
    return text
  }

  /// For an event.
  var fields: [(String, JSON)] {
    func string(_ name: String, _ value: String?) -> (String, JSON) {
      (name, value.map { .string($0) } ?? .null)
    }
    return [
      string("title", tags?.title), string("artist", tags?.artist), string("album", tags?.album),
      ("durationSeconds", seconds.map { .rounded($0, 6) } ?? .null),
      ("bitRate", bitRate.map { .integer($0) } ?? .null),
    ]
  }
}

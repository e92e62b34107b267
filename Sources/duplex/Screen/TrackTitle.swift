import AudioFiles
import AudioSessions

/// What is known of a track, for a person and for an event.
struct TrackTitle {
  /// Characters of what a file or a station says about itself that a person is shown: some lines of a terminal.
  static let mostCharacters = 200

  private let facts: StreamInfo

  init(_ facts: StreamInfo) {
    self.facts = facts
  }

  /// For a person: `Artist - Title (Album), 3:12, 128 kbit/s`, or the file's name where it says
  /// nothing.
  var text: String {
    let tags = facts.tags
    func shown(_ tag: String?) -> String? { tag?.truncated(to: Self.mostCharacters) }
    var text = [shown(tags.artist), shown(tags.title) ?? (tags.artist == nil ? name : nil)]
      .compactMap { $0 }.joined(separator: " - ")
    if let album = shown(tags.album) { text += " (\(album))" }
    if let seconds = facts.seconds { text += ", " + ClockTime(seconds.rounded()).text }
    if let bitRate = facts.bitRate { text += ", \((bitRate + 500) / 1000) kbit/s" }
    return text
  }

  /// Its shortened name; of several at once those of all.
  var name: String { facts.names.map(Self.shortened).joined(separator: " + ") }

  /// The last part of the path or address `name`, without a query.
  static func shortened(_ name: String) -> String {
    var path = name[...]
    if SourceAddress.isRemote(name) { path = path.prefix { $0 != "?" && $0 != "#" } }
    while path.last == "/" { path.removeLast() }
    return String(FileName.last(of: String(path)))
  }

  /// For an event.
  var fields: Fields {
    [
      "title": facts.tags.title, "artist": facts.tags.artist, "album": facts.tags.album,
      "durationSeconds": facts.seconds, "bitRate": facts.bitRate,
    ]
  }
}

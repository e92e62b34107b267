import AudioFiles
import AudioFiles
import AudioSessions

/// What is known of a track, for a person and for an event.
struct TrackTitle {
  private let facts: SourceFacts

  init(_ facts: SourceFacts) {
    self.facts = facts
  }

  /// For a person: `Artist - Title (Album), 3:12, 128 kbit/s`, or the file's name where it says
  /// nothing.
  var text: String {
    var path = facts.name[...]
    if SourceAddress.isRemote(facts.name) { path = path.prefix { $0 != "?" && $0 != "#" } }
    while path.last == "/" { path.removeLast() }
    let name = String(FileName.last(of: String(path)))
    let tags = facts.tags
    var text = [tags.artist, tags.title ?? (tags.artist == nil ? name : nil)]
      .compactMap { $0 }.joined(separator: " - ")
    if let album = tags.album { text += " (\(album))" }
    if let seconds = facts.seconds { text += ", " + ClockTime(seconds.rounded()).text }
    if let bitRate = facts.bitRate { text += ", \((bitRate + 500) / 1000) kbit/s" }
    return text
  }

  /// For an event.
  var fields: [(String, JSON)] {
    func string(_ name: String, _ value: String?) -> (String, JSON) {
      (name, value.map { .string($0) } ?? .null)
    }
    return [
      string("title", facts.tags.title), string("artist", facts.tags.artist),
      string("album", facts.tags.album),
      ("durationSeconds", facts.seconds.map { .rounded($0, 6) } ?? .null),
      ("bitRate", facts.bitRate.map { .integer($0) } ?? .null),
    ]
  }
}

import AudioFiles
import AudioSessions

/// The title, tags, length and bit rate of a track, as text and as fields of an event.
struct TrackTitle {
  /// The maximum number of characters shown of a text from a file or a station: some lines of a
  /// terminal.
  static let maximumCharacters = 200

  private let info: StreamInfo

  init(_ info: StreamInfo) {
    self.info = info
  }

  /// The track as text: `Artist - Title (Album), 3:12, 128 kbit/s`, with the name of the file if it
  /// has no tags.
  var text: String {
    let tags = info.tags
    func shown(_ tag: String?) -> String? { tag?.truncated(to: Self.maximumCharacters) }
    var text = [shown(tags.artist), shown(tags.title) ?? (tags.artist == nil ? name : nil)]
      .compactMap { $0 }.joined(separator: " - ")
    if let album = shown(tags.album) { text += " (\(album))" }
    if let seconds = info.seconds { text += ", " + ClockTime(seconds.rounded()).text }
    if let bitRate = info.bitRate { text += ", \((bitRate + 500) / 1000) kbit/s" }
    return text
  }

  /// The shortened name of the source; the names of all sources if several play at the same time.
  var name: String { info.names.map(Self.shortened).joined(separator: " + ") }

  /// Returns the last part of the path or address `name`, without a query.
  static func shortened(_ name: String) -> String {
    var path = name[...]
    if SourceAddress.isRemote(name) { path = path.prefix { $0 != "?" && $0 != "#" } }
    while path.last == "/" { path.removeLast() }
    return String(FileName.last(of: String(path)))
  }

  /// Returns the position of a track in the order of playback, `3 of 40: `, to be shown before its
  /// name. `index` counts from 0; the result is empty if `count` is 1.
  static func positionText(_ index: Int, of count: Int) -> String {
    count > 1 ? "\(index + 1) of \(count): " : ""
  }

  /// The fields for an event.
  var fields: Fields {
    [
      "title": info.tags.title, "artist": info.tags.artist, "album": info.tags.album,
      "durationSeconds": info.seconds, "bitRate": info.bitRate,
    ]
  }
}

import AudioFiles

/// A source as the user names it: a path or an address, and perhaps a stretch of it as media fragments
/// write it, `song.flac#t=10,20` (W3C, Media Fragments URI 1.0).
struct SourceAddress {
  /// A failure in a place of its own: most of a hundred thousand addresses have none.
  final class Refusal: Sendable {
    let failure: FileFailure

    init(_ failure: FileFailure) { self.failure = failure }
  }

  let location: String
  var start: TimeOption?
  var end: TimeOption?
  /// Where it was opened to see what it is.
  var opened: OpenedSource?
  /// Whether the user did not name it, but a playlist or a folder that it is in.
  var isFound = false
  /// Whether it is heard together with others, which would wait for it.
  var isMixed = false
  /// What is wrong with it, where it is a playlist or a folder in a playlist.
  var refusal: Refusal?
  /// What it is, where it is bare samples.
  var raw: RawOption?

  init(_ name: String) {
    guard let mark = name.lastIndex(of: "#"), name[mark...].hasPrefix("#t="),
      // A file may be called so.
      !SoundFileReader.exists(name)
    else {
      location = name
      return
    }
    var times = name[name.index(mark, offsetBy: 3)...]
    if times.hasPrefix("npt:") { times = times.dropFirst(4) }
    let parts = times.split(separator: ",", omittingEmptySubsequences: false)
    let start = parts.first.flatMap { TimeOption(argument: String($0)) }
    let end = parts.count == 2 ? TimeOption(argument: String(parts[1])) : nil
    guard (1...2).contains(parts.count), start != nil || parts.first == "",
      parts.count == 1 || end != nil
    else {
      location = name
      return
    }
    location = String(name[..<mark])
    self.start = start
    self.end = end
  }

  /// The same as bare samples where `raw` says what they are, and perhaps heard together with others.
  func taken(as raw: RawOption?, isMixed: Bool) -> SourceAddress {
    var address = self
    address.raw = raw
    address.isMixed = isMixed
    return address
  }

  /// What it is called in messages: without the user's name and password.
  var name: String {
    guard isRemote, let colon = location.firstIndex(of: ":") else { return location }
    let scheme = location[...colon] + "//"
    let rest = location.dropFirst(scheme.count)
    let host = rest.prefix { !"/?#".contains($0) }
    guard let at = host.lastIndex(of: "@") else { return location }
    return String(scheme + rest[rest.index(after: at)...])
  }

  /// Whether it is standard input, or a pipe or a device that the user named: it can be read only once,
  /// and may have to be waited for.
  var isPipe: Bool {
    location == "-" || (!isFound && !isRemote && !isMixed && SoundFileReader.isPipe(location))
  }

  /// Whether it lies behind a network.
  var isRemote: Bool { Self.isRemote(location) }

  static func isRemote(_ name: String) -> Bool {
    let start = name.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }
}

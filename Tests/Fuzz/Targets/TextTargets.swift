import AudioBasics

@testable import AudioFiles
@testable import AudioSessions
@testable import duplex

extension FuzzTarget {
  /// Playlists, local names of addresses, and regions of files.
  static let playlist = FuzzTarget("playlist", maximumLength: 4096) { input in
    let base = input.choose(from: ["list.m3u", "list.pls"])
    let names = ScratchFile(base)
    names.with(input.bytes) { path in
      guard let entries = try? Playlist.entries(of: path) else { return }
      for entry in entries {
        let address = SourceAddress(entry)
        _ = (address.name, address.isRemote, Decoding.supports(format: entry))
        for time in [address.start, address.end] { _ = time?.frameCount(at: 768_000) }
      }
    }
  }

  /// JSON, read and written, and text that is shown to a person.
  static let text = FuzzTarget("text", maximumLength: 4096) { input in
    let text = input.text
    let name = text.prefix { $0 != "=" }
    for object in JSON.objects(in: text) { _ = object[String(name)]?.whole }
    let numbers = text.split(separator: " ").compactMap { Double($0) }
    let fields = numbers.reduce(["text": text] as Fields) { fields, number in
      fields + ["number": number, "whole": number.digits(0), "rounded": number.digits(2)]
    }
    checkLine(fields.json.text)
    var tags = SoundFileTags()
    tags.title = text
    tags.artist = String(fromNetwork: input.bytes)
    _ = TextFile.text(of: input.bytes)
    for number in numbers { _ = ClockTime(number, showsTenths: true).text }
    checkLine(text.printable)
  }

  /// Checks that a terminal shows the text on one line and executes none of it.
  private static func checkLine(_ text: String) {
    // The zero-width joiners are allowed, because some letters need them.
    for scalar in text.unicodeScalars
    where !scalar.isPrintable && ![0x200C, 0x200D].contains(scalar.value) {
      finding("character \(scalar.value) is printed")
    }
  }
}

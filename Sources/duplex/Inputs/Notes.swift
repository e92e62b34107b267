import AudioBasics
import AudioFiles
import RealtimeAudio

/// The notes in a folder: the files that `duplex record` writes if no name is given.
enum Notes {
  /// Returns the newest note of the current folder, by the time in its name, and prints a message
  /// with this name. Throws if there is none.
  static func last() throws -> String {
    let files = (try? SoundFolder.files(in: ".", entersFolders: false)).map(Array.init) ?? []
    guard let last = files.filter(isNote).max(by: isOlder) else {
      throw ToolFailure(
        .noInput, code: "inputNotFound", "There is no note in this folder.",
        hint: "Name a file, or record a note with `duplex record`.")
    }
    inform("lastNote", "playing \(last), the last note of this folder.")
    return last
  }

  /// Returns the name of a note recorded now: note-YYYYMMDD-HHMMSS.wav, with a number after the
  /// time if the file exists.
  static func newName(_ format: FileFormat) -> String {
    let stem = LocalTime(WallTime.nanoseconds).formatted("note-%Y%m%d-%H%M%S")
    let names = [""] + (2..<100).map { "-\($0)" }
    let number = names.first { !SoundFileReader.exists("\(stem)\($0).\(format.name)") }
    return "\(stem)\(number ?? "").\(format.name)"
  }

  /// Returns whether a file has a name of the form that `duplex record` gives to notes:
  /// `note-20260131-140000.wav`.
  static func isNote(_ name: String) -> Bool {
    let pattern = "note-00000000-000000".utf8
    return name.utf8.count > pattern.count
      && zip(name.utf8, pattern).allSatisfy { character, wanted in
        wanted == UInt8(ascii: "0")
          ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) : character == wanted
      }
  }

  /// Returns whether a note was recorded before another. Of two notes from the same second, the
  /// later one has the higher number after the time.
  private static func isOlder(_ one: String, _ other: String) -> Bool {
    let (stem, otherStem) = (one.prefix(20), other.prefix(20))
    return stem == otherStem ? number(of: one) < number(of: other) : stem < otherStem
  }

  private static func number(of name: String) -> Int {
    let rest = name.dropFirst(20)
    guard rest.first == "-" else { return 1 }
    return NumberParser.whole(rest.dropFirst().prefix { $0.isNumber }) ?? 1
  }
}

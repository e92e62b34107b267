import RealtimeAudio
import AudioBasics
import AudioFiles

/// The notes of a folder: what `duplex record` wrote without a name.
enum Notes {
  /// The newest note of the current folder, by the time in its name. Tells which it is. Throws
  /// where there is none.
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

  /// The name of a note taken now: note-YYYYMMDD-HHMMSS.wav, or with a number behind the time where
  /// two are taken in one second.
  static func newName(_ format: FileFormat) -> String {
    let stem = LocalTime(WallTime.nanoseconds).formatted("note-%Y%m%d-%H%M%S")
    let names = [""] + (2..<100).map { "-\($0)" }
    let number = names.first { FileRemoval.byteCount(of: "\(stem)\($0).\(format.name)") == nil }
    return "\(stem)\(number ?? "").\(format.name)"
  }

  /// Whether a file is called as `duplex record` calls a note: `note-20260131-140000.wav`.
  static func isNote(_ name: String) -> Bool {
    let pattern = "note-00000000-000000".utf8
    return name.utf8.count > pattern.count
      && zip(name.utf8, pattern).allSatisfy { character, wanted in
        wanted == UInt8(ascii: "0")
          ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) : character == wanted
      }
  }

  /// Whether a note was recorded before another. Of two in one second the second has a number
  /// behind the time.
  private static func isOlder(_ one: String, _ other: String) -> Bool {
    let (stem, otherStem) = (one.prefix(20), other.prefix(20))
    return stem == otherStem ? number(of: one) < number(of: other) : stem < otherStem
  }

  private static func number(of name: String) -> Int {
    let rest = name.dropFirst(20)
    guard rest.first == "-" else { return 1 }
    return WrittenNumber.whole(rest.dropFirst().prefix { $0.isNumber }) ?? 1
  }
}

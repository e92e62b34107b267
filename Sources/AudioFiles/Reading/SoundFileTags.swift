import CSndFile
import Glibc

/// The tags of an audio file. A tag is nil or empty if the file does not contain it.
public struct SoundFileTags: Sendable, Equatable {
  /// The title.
  public var title: String?
  /// The performer.
  public var artist: String?
  /// The album.
  public var album: String?
  /// A comment.
  public var comment: String?
  /// The date of the recording, as written in the file.
  public var date: String?

  /// The name of the program in the files that it writes.
  static let software = "duplex"

  /// Creates empty tags.
  public init() {}

  init(of handle: borrowing SoundFileHandle) {
    for field in Self.fields { self[keyPath: field.text] = Self.string(field.code, handle) }
  }

  private static func string(_ kind: Int, _ handle: borrowing SoundFileHandle) -> String? {
    guard let text = sf_get_string(handle.pointer, Int32(kind)), text.pointee != 0 else {
      return nil
    }
    return self.text(text)
  }
}

extension SoundFileTags {
  /// One tag, and its names in the file formats.
  struct Field {
    let text: WritableKeyPath<SoundFileTags, String?>
    /// The libsndfile number of the tag.
    let code: Int
    /// The name of a Vorbis comment (https://xiph.org/vorbis/doc/v-comment.html).
    let comment: String
    /// The identifier of the chunk in a WAV file.
    let chunk: String
    /// The maximum number of bytes in a WAV file, whose header has a fixed length.
    let waveByteCount: Int
  }

  static var fields: [Field] {
    [
      Field(text: \.title, code: SF_STR_TITLE, comment: "TITLE", chunk: "INAM", waveByteCount: 200),
      Field(
        text: \.artist, code: SF_STR_ARTIST, comment: "ARTIST", chunk: "IART", waveByteCount: 200),
      Field(text: \.album, code: SF_STR_ALBUM, comment: "ALBUM", chunk: "IPRD", waveByteCount: 200),
      Field(
        text: \.comment, code: SF_STR_COMMENT, comment: "COMMENT", chunk: "ICMT",
        waveByteCount: 600),
      Field(text: \.date, code: SF_STR_DATE, comment: "DATE", chunk: "ICRD", waveByteCount: 40),
    ]
  }

  /// Creates tags from Vorbis comments. `comment` returns the comment with a given name.
  init(_ comment: (String) -> String?) {
    for field in Self.fields { self[keyPath: field.text] = comment(field.comment) }
    self.comment = self.comment ?? comment("DESCRIPTION")
  }

  /// The tags that are not empty, with their texts.
  var nonempty: [(field: Field, text: String)] {
    Self.fields.compactMap { field in self[keyPath: field.text].map { (field, $0) } }
      .filter { !$0.text.isEmpty }
  }

  /// The maximum number of bytes of a text that are read. Longer texts do not occur in practice.
  static let maximumByteCount = 64 << 10

  /// Converts a C string, and reads at most `maximumByteCount` bytes.
  static func text(_ text: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, maximumByteCount))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Converts a C character array of fixed length, up to its first NUL character.
  static func text<Field>(inField field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// Adaptation of tags to the limits of a file format, and the resulting losses.
extension SoundFileTags {
  /// A loss of a tag, or of part of it, in a file format.
  package enum Loss: Hashable {
    /// The format does not support the tag with this name.
    case text(String)
    /// The text is cut at its first NUL character.
    case zero
    /// The date is reduced to the year.
    case date
    /// The text is too long and is cut.
    case length
  }

  /// Returns the tags as a file of `format` can hold them. Texts that are too long are cut after a
  /// whole character, and all texts are cut at the first NUL character. libsndfile, or programs
  /// that read the file, fail with longer texts.
  public func fitting(_ format: FileFormat) -> SoundFileTags {
    var fitting = self
    for field in Self.fields {
      fitting[keyPath: field.text] = self[keyPath: field.text].flatMap {
        format.fit($0, field).text
      }
    }
    return fitting
  }

  /// Returns the losses caused by `fitting`, each once.
  package func losses(in format: FileFormat) -> [Loss] {
    var losses: [Loss] = []
    for (field, text) in nonempty {
      guard let loss = format.fit(text, field).loss, !losses.contains(loss) else { continue }
      losses.append(loss)
    }
    return losses
  }
}

extension FileFormat {
  /// Returns the part of the text of `field` that a file can hold, and the loss, if any.
  fileprivate func fit(
    _ text: String, _ field: SoundFileTags.Field
  ) -> (text: String?, loss: SoundFileTags.Loss?) {
    let maximum = maximumBytes(of: field)
    guard maximum > 0 else { return (nil, .text(field.comment.lowercased())) }
    // libsndfile passes the date to LAME as a number.
    if self == .mp3, field.text == \.date {
      let year = String(text.prefix(4).prefix { $0.isASCII && $0.isNumber })
      return year == text ? (text, nil) : (year, .date)
    }
    let whole = text.utf8.prefix { $0 != 0 }.count
    guard whole == text.utf8.count, whole <= maximum else {
      let kept = String(decoding: text.bytes(atMost: maximum), as: UTF8.self)
      return (kept, whole <= maximum ? .zero : .length)
    }
    return (text, nil)
  }

  /// Returns the maximum size in bytes of a text. The header of a WAV file has a fixed length.
  private func maximumBytes(of field: SoundFileTags.Field) -> Int {
    switch self {
    case .wav, .rf64: field.waveByteCount
    case .caf: 3000
    // AIFF has no chunks for album and date.
    case .aiff: field.text == \.album || field.text == \.date ? 0 : 8000
    case .opus: 8000
    case .flac, .ogg, .mp3: 60_000
    // These formats do not support tags.
    case .w64, .raw: 0
    }
  }
}

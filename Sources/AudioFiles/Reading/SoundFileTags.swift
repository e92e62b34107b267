import CSndFile
import Glibc

/// Tags of a sound file. nil or empty where it says nothing.
public struct SoundFileTags: Sendable, Equatable {
  /// What it is called.
  public var title: String?
  /// The performer.
  public var artist: String?
  /// The album that it belongs to.
  public var album: String?
  /// Anything else.
  public var comment: String?
  /// When it was made, in the file's own words.
  public var date: String?

  /// Nothing said.
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
  /// One text, and what the formats call it.
  struct Field {
    let text: WritableKeyPath<SoundFileTags, String?>
    /// libsndfile's number.
    let code: Int
    /// The name of a Vorbis comment (https://xiph.org/vorbis/doc/v-comment.html).
    let comment: String
    /// The chunk of a WAV file.
    let chunk: String
    /// Bytes of it in a WAV file at most, whose header has a fixed length.
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

  /// The tags among Vorbis comments, found by name.
  init(_ comment: (String) -> String?) {
    for field in Self.fields { self[keyPath: field.text] = comment(field.comment) }
    self.comment = self.comment ?? comment("DESCRIPTION")
  }

  /// The fields that are not empty, with their texts.
  var said: [(field: Field, text: String)] {
    Self.fields.compactMap { field in self[keyPath: field.text].map { (field, $0) } }
      .filter { !$0.text.isEmpty }
  }

  /// Bytes of one text that are read, at most: more is not written about a song.
  static let longest = 64 << 10

  /// The beginning of a text of C.
  static func text(_ text: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, longest))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text in a field of C of a fixed length, up to its first character 0.
  static func text<Field>(inField field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// Tags as far as a file format can hold them, and what is lost.
extension SoundFileTags {
  /// Loss of a tag, or of a part of it, in a file.
  package enum Loss: Hashable {
    /// There is no place for the text of this name.
    case text(String)
    /// A text ends before its first character 0.
    case zero
    /// A date becomes its year.
    case date
    /// A text is too long.
    case length
  }

  /// The same as far as a file of `format` holds it: texts that are too long end earlier, as a
  /// whole letter, and none has a character 0 in it, which would end it. Beyond these lengths
  /// libsndfile, or those who read the file, give up.
  public func fitting(_ format: FileFormat) -> SoundFileTags {
    var fitting = self
    for field in Self.fields {
      fitting[keyPath: field.text] = self[keyPath: field.text].flatMap {
        format.fit($0, field).text
      }
    }
    return fitting
  }

  /// What `fitting` leaves out, each once.
  package func losses(in format: FileFormat) -> [Loss] {
    var losses: [Loss] = []
    for (field, text) in said {
      guard let loss = format.fit(text, field).loss, !losses.contains(loss) else { continue }
      losses.append(loss)
    }
    return losses
  }
}

extension FileFormat {
  /// Of the text of `field` what a file holds, and why that is less.
  fileprivate func fit(
    _ text: String, _ field: SoundFileTags.Field
  ) -> (text: String?, loss: SoundFileTags.Loss?) {
    let most = mostBytes(of: field)
    guard most > 0 else { return (nil, .text(field.comment.lowercased())) }
    // libsndfile hands LAME a number.
    if self == .mp3, field.text == \.date {
      let year = String(text.prefix(4).prefix { $0.isASCII && $0.isNumber })
      return year == text ? (text, nil) : (year, .date)
    }
    let whole = text.utf8.prefix { $0 != 0 }.count
    guard whole == text.utf8.count, whole <= most else {
      let kept = String(decoding: text.bytes(atMost: most), as: UTF8.self)
      return (kept, whole <= most ? .zero : .length)
    }
    return (text, nil)
  }

  /// Bytes of a text that a file holds, at most: a WAV file's header has a fixed length.
  private func mostBytes(of field: SoundFileTags.Field) -> Int {
    switch self {
    case .wav, .rf64: field.waveByteCount
    case .caf: 3000
    // Album and date have no chunk.
    case .aiff: field.text == \.album || field.text == \.date ? 0 : 8000
    case .opus: 8000
    case .flac, .ogg, .mp3: 60_000
    // They have no place for tags.
    case .w64, .raw: 0
    }
  }
}

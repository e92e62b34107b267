import CSndFile

/// What a sound file says about itself. nil or empty where it says nothing.
public struct SoundFileTags: Sendable, Equatable {
  /// What it is called.
  public var title: String?
  /// Who plays.
  public var artist: String?
  /// What it belongs to.
  public var album: String?
  /// Anything else.
  public var comment: String?
  /// When it was made, in the file's own words.
  public var date: String?

  /// Nothing said.
  public init() {}

  init(of handle: borrowing SoundFileHandle) {
    title = Self.string(SF_STR_TITLE, handle)
    artist = Self.string(SF_STR_ARTIST, handle)
    album = Self.string(SF_STR_ALBUM, handle)
    comment = Self.string(SF_STR_COMMENT, handle)
    date = Self.string(SF_STR_DATE, handle)
  }

  private static func string(_ kind: Int, _ handle: borrowing SoundFileHandle) -> String? {
    guard let text = sf_get_string(handle.pointer, Int32(kind)), text.pointee != 0 else {
      return nil
    }
    return String(cString: text)
  }
}

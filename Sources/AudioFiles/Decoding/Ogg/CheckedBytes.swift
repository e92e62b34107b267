/// The bytes that a library reads, looked at before.
final class CheckedBytes {
  let bytes: BufferedBytes
  /// Whether the library may go about in them.
  let isSeekable: Bool
  private let headers = OggHeaderCheck()

  private init(_ bytes: BufferedBytes, isSeekable: Bool) {
    self.bytes = bytes
    self.isSeekable = isSeekable
    headers.keepsAll = isSeekable
  }

  /// What `open` gives, which keeps the headers of all streams where one can go about in them;
  /// where these would be too many, what it gives for bytes that can only be read from their
  /// beginning to their end, one stream after the other.
  static func open<File>(
    _ bytes: BufferedBytes, _ open: (CheckedBytes) -> (file: File, close: () -> Void)?
  ) -> (CheckedBytes, File)? {
    let start = bytes.position
    let checked = CheckedBytes(bytes, isSeekable: bytes.isSeekable)
    let opened = open(checked)
    if case .chain? = checked.headers.refusal {
      opened?.close()
      bytes.position = start
      let oneWay = CheckedBytes(bytes, isSeekable: false)
      return open(oneWay).map { (oneWay, $0.file) }
    }
    // What comes later takes the place of what came before.
    checked.headers.keepsAll = false
    return opened.map { (checked, $0.file) }
  }

  static func of(_ owner: UnsafeMutableRawPointer?) -> CheckedBytes? {
    owner.map { Unmanaged<CheckedBytes>.fromOpaque($0).takeUnretainedValue() }
  }

  func read(_ memory: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    let read = headers.refusal == nil ? bytes.readForCallback(memory, count, isWhole: false) : 0
    guard read > 0, !headers.accepts(UnsafeRawBufferPointer(start: memory, count: read)) else {
      return read
    }
    if case .chain? = headers.refusal { return 0 }
    bytes.fail(.oggHeaders(bytes.name, headers.refusal))
    return 0
  }

  /// Whether the last that came through a pipe is the beginning of a page.
  var endsWithinPage: Bool { bytes.source is PipeSource && headers.holdsTornPage }

  func seek(_ offset: Int, _ origin: Int32) -> Int32 {
    guard headers.refusal == nil else { return -1 }
    headers.jump()
    return bytes.seekForCallback(offset, origin)
  }
}

extension FileFailure {
  /// Headers that a library must not see.
  static func oggHeaders(_ name: String, _ refusal: OggHeaderCheck.Refusal?) -> FileFailure {
    if refusal == .memory { return .noMemory(toDecode: name) }
    let fault =
      switch refusal {
      case .comments: "has comments of more than \(OggHeaderCheck.longestComments >> 20) MiB"
      case .streams:
        "begins more than \(OggHeaderCheck.mostStreams) streams at the same time"
      case .books, .chain, .memory, nil:
        "announces larger Vorbis code books than any encoder writes"
      }
    return FileFailure(
      .unusableContents, "\(name) \(fault).",
      hint: "It is damaged, or made to do harm: look for another copy of it.")
  }
}

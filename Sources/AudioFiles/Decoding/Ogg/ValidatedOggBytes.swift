/// The bytes that a library reads, with a check of their headers.
final class ValidatedOggBytes {
  let bytes: BufferedBytes
  /// Whether the library may seek.
  let isSeekable: Bool
  private let headers = OggHeaderCheck()

  private init(_ bytes: BufferedBytes, isSeekable: Bool) {
    self.bytes = bytes
    self.isSeekable = isSeekable
    headers.keepsAll = isSeekable
  }

  /// Calls `open`, which keeps the headers of all streams if the source is seekable. If their total
  /// size exceeds the limit, calls `open` again for a source that is not seekable, in which the
  /// streams are read one after the other.
  static func open<File>(
    _ bytes: BufferedBytes, _ open: (ValidatedOggBytes) -> (file: File, close: () -> Void)?
  ) -> (ValidatedOggBytes, File)? {
    let start = bytes.position
    let checked = ValidatedOggBytes(bytes, isSeekable: bytes.isSeekable)
    let opened = open(checked)
    if case .chain? = checked.headers.refusal {
      opened?.close()
      bytes.position = start
      let oneWay = ValidatedOggBytes(bytes, isSeekable: false)
      return open(oneWay).map { (oneWay, $0.file) }
    }
    // After the opening, the headers of a new stream replace the previous ones.
    checked.headers.keepsAll = false
    return opened.map { (checked, $0.file) }
  }

  static func of(_ owner: UnsafeMutableRawPointer?) -> ValidatedOggBytes? {
    owner.map { Unmanaged<ValidatedOggBytes>.fromOpaque($0).takeUnretainedValue() }
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

  /// Whether a pipe ended within a page.
  var endsWithinPage: Bool { bytes.source is PipeSource && headers.holdsTornPage }

  /// Whether a pipe ended without any mark of an end.
  var lacksEnd: Bool { bytes.source is PipeSource && !headers.holdsEnd }

  func seek(_ offset: Int, _ origin: Int32) -> Int32 {
    guard headers.refusal == nil else { return -1 }
    headers.jump()
    return bytes.seekForCallback(offset, origin)
  }
}

extension FileFailure {
  /// Returns the failure for headers that a library must not read.
  static func oggHeaders(_ name: String, _ refusal: OggHeaderCheck.Refusal?) -> FileFailure {
    if refusal == .memory { return .noMemory(toDecode: name) }
    let fault =
      switch refusal {
      case .comments:
        "has comments of more than \(OggHeaderCheck.maximumCommentByteCount >> 20) MiB"
      case .streams:
        "begins more than \(OggHeaderCheck.maximumStreams) streams at the same time"
      case .nestedPages: "has damaged pages that begin within one another"
      case .books, .chain, .memory, nil:
        "announces larger Vorbis code books than any encoder writes"
      }
    return FileFailure(
      .unusableContents, "\(name) \(fault).",
      hint: "It is damaged, or made to do harm: look for another copy of it.")
  }
}

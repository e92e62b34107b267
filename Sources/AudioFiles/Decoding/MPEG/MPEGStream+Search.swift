/// Finding blocks among other bytes.
extension MPEGStream {
  /// Goes to the next block at the place in `bytes` or after, and before `limit`: one that others
  /// follow, or the end. nil where there is none, or after an interruption; what was searched is
  /// then passed. Throws `.unusableContents` at sound of another rate.
  static func search(
    _ bytes: BufferedBytes, upTo limit: Int, like first: MPEGHeader?
  ) throws(FileFailure) -> MPEGHeader? {
    while bytes.position < limit {
      let window = try bytes.peek(4096)
      guard window.count >= 4 else { return nil }
      let last = window.count - 4
      guard let candidate = (0...last).first(where: { window.header(at: $0) != nil }) else {
        bytes.position += last + 1
        continue
      }
      let header = window.header(at: candidate)
      bytes.position += candidate
      guard let header else { continue }
      let followers = try countFollowers(of: header, bytes)
      if let first, !header.isCompatible(with: first) {
        // So many in a row are no accident.
        if followers >= 4 { throw .changedRate(bytes.name, first.sampleRate, header.sampleRate) }
      } else if followers >= 2 {
        return header
      }
      if bytes.wasInterrupted && bytes.source.isInterrupted { return nil }
      bytes.position += 1
    }
    return nil
  }

  /// How many blocks like it follow the one at the place, up to 4; the end of all counts as many,
  /// also where it comes in the middle of a block.
  private static func countFollowers(
    of header: MPEGHeader, _ bytes: BufferedBytes
  ) throws(FileFailure) -> Int {
    var header = header
    var length = header.byteCount
    for count in 0..<4 {
      let window = try bytes.peek(length + 4)
      if window.holds("TAG", at: length) { return count + 2 }
      // Torn off: at a place between two blocks, or within one behind a whole one.
      if window.count < length + 4 { return window.count >= length || count > 0 ? count + 2 : 0 }
      guard let next = window.header(at: length), next.isCompatible(with: header) else {
        return count
      }
      length += next.byteCount
      header = next
    }
    return 4
  }

  /// What the first blocks are like, as far as they are held: 8 KiB.
  struct Survey {
    var averageByteCount: Double
    var isConstant = true

    init(_ bytes: BufferedBytes, _ first: MPEGHeader) throws(FileFailure) {
      let window = try bytes.peek(8192)
      var offset = 0
      var count = 0
      var isPadded = false
      while let header = window.header(at: offset), header.isCompatible(with: first) {
        offset += header.byteCount
        count += 1
        if header.bitRate != first.bitRate { isConstant = false }
        if header.isPadded { isPadded = true }
      }
      if !isConstant {
        averageByteCount = Double(offset) / Double(max(1, count))
      } else if isPadded || count < 8 {
        averageByteCount = first.averageByteCount
      } else {
        // There are encoders that never pad.
        averageByteCount = first.averageByteCount.rounded(.down)
        if first.layer == 1 { averageByteCount = Double(first.byteCount) }
      }
    }
  }
}

extension FileFailure {
  /// No block was found.
  static func noMPEG(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents, "\(name) holds no MP3 sound that can be read.",
      hint: "Check that it is a sound file or a stream, and not a web page.")
  }

  /// A stream goes on at another rate, or with other channels, than it began.
  static func changedRate(_ name: String, _ before: Int, _ after: Int) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) changes its rate from \(before) to \(after) Hz midway.",
      hint: "Start the stream anew, or convert the file to one rate with ffmpeg.")
  }
}

extension BufferedBytes {
  /// Throws where something was not found only because somebody interrupted the opening.
  func checkOpening() throws(FileFailure) {
    try check()
    guard wasInterrupted else { return }
    throw FileFailure(
      .readFailed, "Opening \(name) was interrupted.", hint: "Open it again.")
  }
}

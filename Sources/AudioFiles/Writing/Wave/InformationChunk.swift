/// The tags of a WAV file: a chunk `LIST` of the kind `INFO`.
enum InformationChunk {
  /// What is in the chunk. Each text is cut to a length that leaves room for markers in the header.
  static func bytes(_ tags: SoundFileTags) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("INFO")
    append("INAM", tags.title, 200, to: &bytes)
    append("IART", tags.artist, 200, to: &bytes)
    append("IPRD", tags.album, 200, to: &bytes)
    append("ICMT", tags.comment, 600, to: &bytes)
    append("ICRD", tags.date, 40, to: &bytes)
    append("ISFT", "duplex", 40, to: &bytes)
    return bytes
  }

  private static func append(
    _ identifier: StaticString, _ text: String?, _ byteCount: Int, to bytes: inout [UInt8]
  ) {
    guard let text, !text.isEmpty else { return }
    bytes.append(chunk: identifier, text.bytes(atMost: byteCount) + [0])
  }
}

/// The tags of a WAV file: a chunk `LIST` of the kind `INFO`.
enum InformationChunk {
  /// What is in the chunk. The tags fit into WAV, and leave room for markers in the header.
  static func bytes(_ tags: SoundFileTags) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("INFO")
    append("INAM", tags.title, to: &bytes)
    append("IART", tags.artist, to: &bytes)
    append("IPRD", tags.album, to: &bytes)
    append("ICMT", tags.comment, to: &bytes)
    append("ICRD", tags.date, to: &bytes)
    append("ISFT", "duplex", to: &bytes)
    return bytes
  }

  private static func append(
    _ identifier: StaticString, _ text: String?, to bytes: inout [UInt8]
  ) {
    guard let text, !text.isEmpty else { return }
    bytes.append(chunk: identifier, Array(text.utf8) + [0])
  }
}

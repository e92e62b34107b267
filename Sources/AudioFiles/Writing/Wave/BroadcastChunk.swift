/// What makes a WAV file a broadcast WAV file: the chunk `bext` of EBU Tech 3285, version 2, which says
/// who made it, when its first frame was captured, and how loud it is.
enum BroadcastChunk {
  /// Without a coding history.
  static let byteCount = 602

  /// What is in the chunk.
  static func bytes(_ notes: RecordingNotes) -> [UInt8] {
    let origination = notes.origination
    let loudness = notes.loudness
    var bytes: [UInt8] = []
    bytes.append(notes.tags.title ?? "", field: 256)
    bytes.append("duplex", field: 32)
    bytes.append("", field: 32)
    bytes.append(origination?.date ?? "", field: 10)
    bytes.append(origination?.time ?? "", field: 8)
    bytes.append(UInt64(origination?.timeReference ?? 0))
    bytes.append(UInt16(2))
    // No unique identifier.
    bytes.append(zeros: 64)
    bytes.append(loudness.integrated)
    bytes.append(loudness.range)
    bytes.append(loudness.truePeak)
    bytes.append(loudness.momentary)
    bytes.append(loudness.shortTerm)
    bytes.append(zeros: 180)
    return bytes
  }
}

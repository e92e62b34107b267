/// The head of a WAV or RF64 file: everything before the samples, always the same length.
///
/// Room for RF64's sizes is kept from the start (EBU Tech 3306), so that a recording that outgrows
/// 4 GiB needs nothing moved, and room for markers, so that those set while recording are in the
/// file at once. What that room does not hold stands behind the samples when the file is finished.
struct WaveHeader {
  /// Bytes before the first sample: what disks write at once.
  static let byteCount = 4096

  let format: WaveFormat
  /// Whether it is RF64 while it is still short.
  let isAlwaysLong: Bool

  /// The header of a pipe, whose length is not known yet and never will be. It is short.
  var streamed: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("RIFF")
    bytes.append(UInt32.max)
    bytes.append("WAVE")
    bytes.append(junk: 36)
    bytes.append(chunk: "fmt ", format.bytes)
    if format.isFloat { appendFact(.max, to: &bytes) }
    bytes.append("data")
    bytes.append(UInt32.max)
    return bytes
  }

  /// The header of a file with so many bytes of samples, behind which, where that is not zero, so
  /// many bytes of chunks follow that hold all markers.
  func bytes(dataByteCount data: Int, notes: RecordingNotes, trailerByteCount: Int = 0) -> [UInt8] {
    // A chunk of odd length is followed by a byte that does not count.
    let riff = Self.byteCount - 8 + data + (data & 1) + trailerByteCount
    let isLong = isAlwaysLong || riff > Int(UInt32.max)
    let frames = data / format.frameByteCount
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(isLong ? "RF64" : "RIFF")
    bytes.append(isLong ? .max : UInt32(riff))
    bytes.append("WAVE")
    bytes.append(isLong ? "ds64" : "JUNK")
    bytes.append(UInt32(28))
    bytes.append(isLong ? UInt64(riff) : 0)
    bytes.append(isLong ? UInt64(data) : 0)
    bytes.append(isLong ? UInt64(frames) : 0)
    bytes.append(UInt32(0))
    bytes.append(chunk: "bext", BroadcastChunk.bytes(notes))
    bytes.append(chunk: "fmt ", format.bytes)
    if hasFact { appendFact(isLong ? .max : UInt32(frames), to: &bytes) }
    bytes.append(chunk: "LIST", InformationChunk.bytes(notes.tags))
    if trailerByteCount == 0 {
      bytes += MarkerChunks(notes.markers, room: markerRoom(beside: notes.tags)).bytes
    }
    bytes.append(junk: Self.byteCount - 8 - bytes.count)
    bytes.append("data")
    bytes.append(isLong ? .max : UInt32(data))
    return bytes
  }

  /// All markers, where the header has no room for them; else nothing.
  func trailer(_ notes: RecordingNotes) -> [UInt8] {
    let room = markerRoom(beside: notes.tags)
    guard MarkerChunks(notes.markers, room: room).isCut else { return [] }
    return MarkerChunks(notes.markers, room: .max).bytes
  }

  /// Bytes for markers: what no other chunk needs, nor the head of the junk that fills the rest.
  private func markerRoom(beside tags: SoundFileTags) -> Int {
    let heads = 12 + 36 + 8 + 8 + 8 + (hasFact ? 12 : 0) + 8 + 8
    return Self.byteCount - heads - BroadcastChunk.byteCount - format.bytes.count
      - InformationChunk.bytes(tags).count
  }

  /// Whether the number of frames is told in a chunk of its own, as all but the plainest files do.
  private var hasFact: Bool { format.isFloat || format.isExtensible }

  private func appendFact(_ frames: UInt32, to bytes: inout [UInt8]) {
    bytes.append("fact")
    bytes.append(UInt32(4))
    bytes.append(frames)
  }
}

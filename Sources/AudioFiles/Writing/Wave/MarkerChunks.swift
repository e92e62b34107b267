/// The markers of a WAV file: the chunk `cue `, which says where they stand, and a chunk `LIST` of the
/// kind `adtl`, which says what they are called.
struct MarkerChunks {
  let bytes: [UInt8]
  /// Whether there was no room for all.
  let isCut: Bool

  /// As many markers as fit into `room` bytes, the earliest first. Frames beyond 32 bits cannot be
  /// told, and are left out.
  init(_ markers: [SoundFileMarker], room: Int) {
    let told = markers.filter { $0.frame >= 0 && $0.frame <= Int(UInt32.max) }
      .sorted { $0.frame < $1.frame }
    var points: [UInt8] = []
    var labels: [UInt8] = []
    labels.append("adtl")
    var count: UInt32 = 0
    for marker in told {
      let identifier = count + 1
      var label: [UInt8] = []
      label.append(identifier)
      label += marker.label.bytes(atMost: 1000) + [0]
      let labelByteCount = 8 + label.count + label.count % 2
      // Beside the heads of both chunks, and the number of points.
      guard points.count + 24 + labels.count + labelByteCount + 20 <= room else { break }
      points.append(identifier)
      points.append(UInt32(marker.frame))
      points.append("data")
      points.append(UInt64(0))
      points.append(UInt32(marker.frame))
      labels.append(chunk: "labl", label)
      count += 1
    }
    isCut = Int(count) < told.count
    var bytes: [UInt8] = []
    if count > 0 {
      var cue: [UInt8] = []
      cue.append(count)
      bytes.append(chunk: "cue ", cue + points)
      bytes.append(chunk: "LIST", labels)
    }
    self.bytes = bytes
  }
}

/// The header of a WAV or RF64 file: everything before the samples, always of the same length.
///
/// Room for RF64's sizes is reserved from the start (EBU Tech 3306), so that nothing must be moved
/// when a recording exceeds 4 GiB. Room for markers is reserved as well, so that the markers set
/// while recording are in the file at once. If they do not fit, all markers follow the samples when
/// the file is finished.
struct WaveHeader {
  /// The number of bytes before the first sample: the block that disks write at once.
  static let byteCount = 4096

  let format: WaveFormat
  /// Whether the header is RF64 even if the file is short.
  let isAlwaysLong: Bool

  /// The header of a stream on a pipe, whose length is never known. It is short.
  var streamed: [UInt8] { short(dataByteCount: nil) }

  /// Returns a short header that has no room except for `padding` bytes; a length of nil is
  /// unknown.
  func short(dataByteCount data: Int?, padding: Int = 0) -> [UInt8] {
    let isFact = format.isFloat
    let behind = 36 + padding + 8 + format.bytes.count + (isFact ? 12 : 0) + 8
    let riff = data.map { 4 + behind + $0 + ($0 & 1) }
    let isLong = riff.map { $0 > Int(UInt32.max) } ?? false
    let isOpen = data == nil || isLong
    var bytes = beginning(riff: riff, data: data ?? 0, isLong: isLong, padding: padding)
    bytes.append(chunk: "fmt ", format.bytes)
    if isFact {
      appendFact(isOpen ? .max : UInt32((data ?? 0) / format.frameByteCount), to: &bytes)
    }
    bytes.append("data")
    bytes.append(isOpen ? .max : UInt32(data ?? 0))
    return bytes
  }

  /// Returns the header of a file with `data` bytes of samples. If `trailerByteCount` is not zero,
  /// that many bytes of chunks with all markers follow the samples.
  func bytes(dataByteCount data: Int, notes: RecordingNotes, trailerByteCount: Int = 0) -> [UInt8] {
    // A pad byte, which the length does not count, follows a chunk of odd length.
    let riff = Self.byteCount - 8 + data + (data & 1) + trailerByteCount
    let isLong = isAlwaysLong || riff > Int(UInt32.max)
    let frames = data / format.frameByteCount
    var bytes = beginning(riff: riff, data: data, isLong: isLong)
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

  /// Changes `bytes`, a header without a trailer, to that of a file with `data` bytes of samples.
  /// Returns false if it is not a header of the same kind (RIFF or RF64) and must be made again.
  func resize(_ bytes: inout [UInt8], dataByteCount data: Int) -> Bool {
    let riff = Self.byteCount - 8 + data + (data & 1)
    let isLong = isAlwaysLong || riff > Int(UInt32.max)
    let container = isLong ? SoundContainer.rf64 : .riff
    guard bytes.starts(with: container.identifier.utf8) else { return false }
    let fact = 12 + 36 + 8 + BroadcastChunk.byteCount + 8 + format.bytes.count + 8
    if isLong {
      // The sizes are in the chunk `ds64`; the 32-bit fields refer to it.
      for (index, size) in [riff, data, data / format.frameByteCount].enumerated() {
        bytes.replace(at: 20 + 8 * index, with: UInt64(size))
      }
    } else {
      bytes.replace(at: 4, with: UInt32(riff))
      if hasFact { bytes.replace(at: fact, with: UInt32(data / format.frameByteCount)) }
      bytes.replace(at: Self.byteCount - 4, with: UInt32(data))
    }
    return true
  }

  /// Returns the first 12 bytes of the header, and the sizes that RF64 needs, or room for them.
  /// `riff` is nil if the length is not known.
  private func beginning(riff: Int?, data: Int, isLong: Bool, padding: Int = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append((isLong ? SoundContainer.rf64 : .riff).identifier)
    bytes.append(isLong ? .max : riff.map { UInt32($0) } ?? .max)
    bytes.append("WAVE")
    guard isLong else {
      bytes.append(junk: 36 + padding)
      return bytes
    }
    bytes.append("ds64")
    bytes.append(UInt32(28 + padding))
    for size in [riff ?? 0, data, data / format.frameByteCount] { bytes.append(UInt64(size)) }
    bytes.append(zeros: 4 + padding)
    return bytes
  }

  /// Returns all markers if the header has no room for them; otherwise nothing.
  func trailer(_ notes: RecordingNotes) -> [UInt8] {
    let room = markerRoom(beside: notes.tags)
    guard MarkerChunks(notes.markers, room: room).isCut else { return [] }
    return MarkerChunks(notes.markers, room: .max).bytes
  }

  /// Returns the number of bytes for markers: all that neither the other chunks need nor the header
  /// of the junk that fills the rest.
  private func markerRoom(beside tags: SoundFileTags) -> Int {
    let heads = 12 + 36 + 8 + 8 + 8 + (hasFact ? 12 : 0) + 8 + 8
    return Self.byteCount - heads - BroadcastChunk.byteCount - format.bytes.count
      - InformationChunk.bytes(tags).count
  }

  /// Whether the number of frames is in a chunk `fact`, as in all but the plainest files.
  private var hasFact: Bool { format.isFloat || format.isExtensible }

  private func appendFact(_ frames: UInt32, to bytes: inout [UInt8]) {
    bytes.append("fact")
    bytes.append(UInt32(4))
    bytes.append(frames)
  }
}

import Glibc

/// A WAV, RF64 or raw file being written, which we lay out ourselves: one `write` puts samples
/// down, and one `pwrite` makes the header true, so that the file is whole at every instant.
///
/// On a pipe the header says that the length is unknown.
final class WaveFile: SampleSink {
  let descriptor: Int32
  private let format: WaveFormat
  private let header: WaveHeader?
  /// Where in the file our first byte is; -1 where nothing can be gone back to.
  private let start: Int
  /// Bytes of whole frames behind the header, and those that the header tells of.
  private var dataByteCount = 0
  private var toldByteCount = 0
  private var isStale = false
  private var isOpen = true
  var notes: RecordingNotes { didSet { isStale = true } }

  /// Begins at the place where `descriptor` stands; without a `header` the file is raw.
  init(
    _ descriptor: consuming FileDescriptor, _ format: WaveFormat, header: WaveHeader?,
    notes: RecordingNotes
  ) throws(SystemError) {
    let status = try descriptor.status
    // Appending makes every write, even one to the header, go to the end.
    let isAppending = fcntl(descriptor.number, F_GETFL) & O_APPEND != 0
    let isRewritable = status.isRegular && !isAppending
    let start = isRewritable ? descriptor.position ?? -1 : -1
    if let header {
      let bytes = start >= 0 ? header.bytes(dataByteCount: 0, notes: notes) : header.streamed
      let result = OutputBytes.write(bytes, count: bytes.count, to: descriptor.number)
      if let error = result.error { throw error }
    }
    self.start = start
    self.header = header
    self.format = format
    self.notes = notes
    self.descriptor = descriptor.release()
  }

  deinit {
    // Not closed: still a readable file.
    if isOpen { try? close() }
  }

  var frameCount: Int { dataByteCount / format.frameByteCount }

  var isReadable: Bool { header != nil || dataByteCount > 0 }

  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    let count = frames * format.channelCount
    format.sampleFormat.pack(samples, count: count, into: scratch)
    try append(UnsafeRawBufferPointer(start: scratch, count: frames * format.frameByteCount))
  }

  /// Whether the file has the memory's own samples of 16 bits, so that they need not be converted.
  var takesWords: Bool {
    #if _endian(little)
      format.sampleFormat == .s16
    #else
      false
    #endif
  }

  /// Appends frames of 16 bits to a file that `takesWords`, as `append(_:frames:scratch:)` does.
  func append(_ words: UnsafeBufferPointer<Int16>) throws(SystemError) {
    try append(UnsafeRawBufferPointer(words))
  }

  /// Appends whole frames as they are in the file.
  private func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    guard let base = bytes.baseAddress else { return }
    let (done, error) = OutputBytes.write(base, count: bytes.count, to: descriptor)
    dataByteCount += done - done % format.frameByteCount
    isStale = true
    guard let error else { return }
    // Part of a frame is of no use.
    if start >= 0 { OutputBytes.cut(descriptor, at: end) }
    throw error
  }

  func refresh() throws(SystemError) {
    guard isStale else { return }
    try refreshHeader(trailerByteCount: 0)
    isStale = false
  }

  func close() throws(SystemError) {
    guard isOpen else { return }
    isOpen = false
    var trouble: SystemError?
    do throws(SystemError) {
      try refreshHeader(trailerByteCount: appendTrailer())
    } catch {
      trouble = error
      dataByteCount = toldByteCount
    }
    if Glibc.close(descriptor) != 0, trouble == nil { trouble = .last }
    if let trouble { throw trouble }
  }

  /// Where the last sample ends.
  private var end: Int { start + (header == nil ? 0 : WaveHeader.byteCount) + dataByteCount }

  private func refreshHeader(trailerByteCount: Int) throws(SystemError) {
    guard let header, start >= 0 else { return }
    // A chunk of odd length is followed by a byte that does not count; the next samples take its
    // place.
    if dataByteCount % 2 == 1 { try? OutputBytes.write([0], at: end, to: descriptor) }
    let bytes = header.bytes(
      dataByteCount: dataByteCount, notes: notes, trailerByteCount: trailerByteCount)
    try OutputBytes.write(bytes, at: start, to: descriptor)
    toldByteCount = dataByteCount
  }

  /// Puts the markers that the header has no room for behind the samples, where the disk has any;
  /// returns their bytes.
  private func appendTrailer() -> Int {
    guard let header, start >= 0 else { return 0 }
    let trailer = header.trailer(notes)
    let place = end + dataByteCount % 2
    guard !trailer.isEmpty else { return 0 }
    do throws(SystemError) {
      try OutputBytes.write(trailer, at: place, to: descriptor)
      return trailer.count
    } catch {
      OutputBytes.cut(descriptor, at: end)
      return 0
    }
  }
}

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
  var streamed: [UInt8] { short(dataByteCount: nil) }

  /// A short header with no room for anything but `padding` bytes; nil for a length that is not
  /// known.
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

  /// The header of a file with `data` bytes of samples. Where `trailerByteCount` is not zero, that
  /// many bytes of chunks with all markers follow the samples.
  func bytes(dataByteCount data: Int, notes: RecordingNotes, trailerByteCount: Int = 0) -> [UInt8] {
    // A chunk of odd length is followed by a byte that does not count.
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

  /// The head of the whole, and the sizes that RF64 needs, or room for them: `riff` is nil for a
  /// length that is not known.
  private func beginning(riff: Int?, data: Int, isLong: Bool, padding: Int = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(isLong ? "RF64" : "RIFF")
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

/// What makes a WAV file a broadcast WAV file: the chunk `bext` of EBU Tech 3285, version 2, which
/// names its originator, when its first frame was captured, and how loud it is.
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

/// The tags of a WAV file: a chunk `LIST` of the kind `INFO`.
enum InformationChunk {
  /// What is in the chunk. The tags fit into WAV, and leave room for markers in the header.
  static func bytes(_ tags: SoundFileTags) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("INFO")
    for (field, text) in tags.said { bytes.append(chunk: field.chunk, Array(text.utf8) + [0]) }
    bytes.append(chunk: "ISFT", Array("duplex\0".utf8))
    return bytes
  }
}

/// The markers of a WAV file: the chunk `cue `, which says where they stand, and a chunk `LIST` of
/// the kind `adtl`, which says what they are called.
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

/// Chunks as RIFF files have them: a name of four letters, a length, and what is in it, the least
/// significant byte first. After an odd length a byte follows that does not count.
extension [UInt8] {
  mutating func append(_ identifier: String) { self += identifier.utf8 }

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// `text` at the beginning of a field of `byteCount` bytes.
  mutating func append(_ text: String, field byteCount: Int) {
    let bytes = text.bytes(atMost: byteCount)
    self += bytes
    append(zeros: byteCount - bytes.count)
  }

  mutating func append(zeros count: Int) {
    self += [UInt8](repeating: 0, count: count)
  }

  mutating func append(chunk identifier: String, _ contents: [UInt8]) {
    append(identifier)
    append(UInt32(contents.count))
    self += contents
    if contents.count % 2 == 1 { append(UInt8(0)) }
  }

  /// A chunk that means nothing, and fills `byteCount` bytes, at least eight, with its head.
  mutating func append(junk byteCount: Int) {
    append(chunk: "JUNK", [UInt8](repeating: 0, count: byteCount - 8))
  }
}

extension String {
  /// At most `byteCount` bytes of it, never half of a letter; none is zero, which ends a text.
  func bytes(atMost byteCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for letter in unicodeScalars where letter != "\0" {
      let more = Array(UTF8.encode(letter) ?? UTF8.encodedReplacementCharacter)
      guard bytes.count + more.count <= byteCount else { break }
      bytes += more
    }
    return bytes
  }
}

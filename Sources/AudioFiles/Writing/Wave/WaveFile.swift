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
  /// The header of the last refresh, empty where it says something else than the notes.
  private var toldHeader: [UInt8] = []
  var notes: RecordingNotes {
    didSet {
      isStale = true
      toldHeader = []
    }
  }

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
    if trailerByteCount != 0 || !header.resize(&toldHeader, dataByteCount: dataByteCount) {
      toldHeader = header.bytes(
        dataByteCount: dataByteCount, notes: notes, trailerByteCount: trailerByteCount)
    }
    try OutputBytes.write(toldHeader, at: start, to: descriptor)
    toldByteCount = dataByteCount
  }

  /// Puts the markers that the header has no room for behind the samples, where the disk has any;
  /// returns their bytes.
  private func appendTrailer() -> Int {
    guard let header, start >= 0 else { return 0 }
    let trailer = header.trailer(notes)
    let offset = end + dataByteCount % 2
    guard !trailer.isEmpty else { return 0 }
    do throws(SystemError) {
      try OutputBytes.write(trailer, at: offset, to: descriptor)
      return trailer.count
    } catch {
      OutputBytes.cut(descriptor, at: end)
      return 0
    }
  }
}

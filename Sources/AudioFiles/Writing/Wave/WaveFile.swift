import Glibc

/// A WAV, RF64 or raw file being written without a library: one `write` appends samples, and one
/// `pwrite` updates the header, so that the file is valid at every instant.
///
/// On a pipe the header states that the length is unknown.
final class WaveFile: SampleSink {
  let descriptor: Int32
  private let format: WaveFormat
  private let header: WaveHeader?
  /// The offset of the first byte of the header or samples; -1 if the output cannot be rewritten.
  private let start: Int
  /// The bytes of whole frames after the header, and the number of them that the header counts.
  private var dataByteCount = 0
  private var writtenByteCount = 0
  private var isStale = false
  private(set) var isOpen = true
  /// The header of the last refresh; empty if the notes have changed since.
  private var writtenHeader: [UInt8] = []
  var notes: RecordingNotes {
    didSet {
      isStale = true
      writtenHeader = []
    }
  }

  /// Starts at the present offset of `descriptor`; without a `header` the file is raw.
  init(
    _ descriptor: consuming FileDescriptor, _ format: WaveFormat, header: WaveHeader?,
    notes: RecordingNotes
  ) throws(SystemError) {
    let status = try descriptor.status
    // With `O_APPEND` every write goes to the end, even one to the header.
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
    // The file was not closed, but must be readable.
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

  /// Whether the file stores 16-bit samples exactly as memory does, so that no conversion is
  /// needed.
  var acceptsIntegers: Bool {
    #if _endian(little)
      format.sampleFormat == .s16
    #else
      false
    #endif
  }

  /// Appends 16-bit frames to a file that `acceptsIntegers`, as `append(_:frames:scratch:)` does.
  func append(_ integers: UnsafeBufferPointer<Int16>) throws(SystemError) {
    try append(UnsafeRawBufferPointer(integers))
  }

  /// Appends whole frames that have the file's sample format.
  private func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try checkOpen()
    guard let base = bytes.baseAddress else { return }
    let (done, error) = OutputBytes.write(base, count: bytes.count, to: descriptor)
    dataByteCount += done - done % format.frameByteCount
    isStale = true
    guard let error else { return }
    // A partial frame is useless.
    if start >= 0 { OutputBytes.cut(descriptor, at: end) }
    throw error
  }

  func refresh() throws(SystemError) {
    try checkOpen()
    guard isStale else { return }
    try refreshHeader(trailerByteCount: 0)
    isStale = false
  }

  func close() throws(SystemError) {
    guard isOpen else { return }
    isOpen = false
    var firstError: SystemError?
    do throws(SystemError) {
      try refreshHeader(trailerByteCount: appendTrailer())
    } catch {
      firstError = error
      dataByteCount = writtenByteCount
    }
    if Glibc.close(descriptor) != 0, firstError == nil { firstError = .last }
    if let firstError { throw firstError }
  }

  /// The offset at which the last sample ends.
  private var end: Int { start + (header == nil ? 0 : WaveHeader.byteCount) + dataByteCount }

  private func refreshHeader(trailerByteCount: Int) throws(SystemError) {
    guard let header, start >= 0 else { return }
    // A pad byte, which the length does not count, follows a chunk of odd length; the next samples
    // overwrite it.
    if dataByteCount % 2 == 1 { try? OutputBytes.write([0], at: end, to: descriptor) }
    if trailerByteCount != 0 || !header.resize(&writtenHeader, dataByteCount: dataByteCount) {
      writtenHeader = header.bytes(
        dataByteCount: dataByteCount, notes: notes, trailerByteCount: trailerByteCount)
    }
    try OutputBytes.write(writtenHeader, at: start, to: descriptor)
    writtenByteCount = dataByteCount
  }

  /// Writes all markers after the samples if the header has no room for them, unless the disk is
  /// full; returns the number of bytes written.
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

/// Bytes that are there already, read as those of a file are.
final class BytesInMemory: ByteSource {
  private let bytes: [UInt8]
  let name: String
  var byteCount: Int? { bytes.count }
  var isSeekable: Bool { true }
  var bytesPerSecond: Double? { nil }
  var isInterrupted: Bool { false }
  var announcedTitle: String? { nil }
  var contentType: String? { nil }
  var announcedBitRate: Int? { nil }

  /// `bytes`, which are part of the file `name`.
  init(_ bytes: [UInt8], of name: String) {
    self.bytes = bytes
    self.name = name
  }

  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileFailure) -> Int {
    let part = bytes.dropFirst(max(0, offset)).prefix(target.count)
    target.copyBytes(from: part)
    return part.count
  }

  func readyByteCount(at offset: Int) -> Int { max(0, bytes.count - offset) }

  func interrupt() {}
  func proceed() {}
}

import Glibc

/// A file to be mended, read anywhere through one window of memory. One thread at a time.
final class DamagedFile {
  let path: String
  let byteCount: Int
  private let descriptor: FileDescriptor
  private var window: [UInt8] = []
  private var windowStart = 0
  private static let windowByteCount = 262_144
  /// Bytes that were asked for so far: the work that a repair takes.
  private(set) var lookCount = 0

  /// Opens the file at `path`. Throws `.cannotOpen`, `.permissionDenied` or `.unusableContents`.
  init(_ path: String) throws(FileFailure) {
    let opened = try Self.open(path)
    do throws(SystemError) {
      byteCount = try opened.status.byteCount
    } catch {
      throw .reading(path, error)
    }
    descriptor = opened
    self.path = path
  }

  private static func open(_ path: String) throws(FileFailure) -> FileDescriptor {
    do throws(SystemError) {
      return try FileDescriptor.file(at: path)
    } catch {
      throw .opening(path, error)
    }
  }

  /// The byte at `place`, which lies within the file.
  @inline(__always) func byte(at place: Int) throws(FileFailure) -> UInt8 {
    lookCount &+= 1
    let index = place - windowStart
    if index >= 0, index < window.count { return window[index] }
    return try fetch(place)
  }

  /// As many of the `count` bytes from `place` on as there are.
  func bytes(at place: Int, count: Int) throws(FileFailure) -> [UInt8] {
    guard place >= 0, place < byteCount, count > 0 else { return [] }
    let count = min(count, byteCount - place)
    lookCount &+= count
    if place < windowStart || place + count > windowStart + window.count {
      if count > Self.windowByteCount { return try load(place, count) }
      _ = try fetch(place)
    }
    let index = place - windowStart
    return Array(window[index..<min(index + count, window.count)])
  }

  private func fetch(_ place: Int) throws(FileFailure) -> UInt8 {
    // A little of what came before is kept: a search looks back.
    let start = max(0, place - 256)
    window = try load(start, Self.windowByteCount + 256)
    windowStart = start
    guard place - start < window.count else {
      throw FileFailure(
        .readFailed, "\(path) became shorter while it was read.",
        hint: "Wait until nobody writes it any more.")
    }
    return window[place - start]
  }

  private func load(_ start: Int, _ count: Int) throws(FileFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(count, byteCount - start))
    var done = 0
    while done < bytes.count {
      let room = bytes.count - done
      let got = bytes.withUnsafeMutableBytes { memory in
        memory.baseAddress.map { pread(descriptor.number, $0 + done, room, start + done) } ?? 0
      }
      if got == 0 { break }
      if got > 0 { done += got } else if errno != EINTR { throw .reading(path, .last) }
    }
    bytes.removeLast(bytes.count - done)
    return bytes
  }
}

/// Whole numbers in the bytes of a header.
extension [UInt8] {
  /// The number in `count` bytes from `index` on; nil where the bytes end before.
  func number(at index: Int, _ count: Int, bigEndian: Bool) -> UInt64? {
    guard index >= 0, index + count <= self.count else { return nil }
    var number: UInt64 = 0
    for step in 0..<count {
      number = number << 8 | UInt64(self[bigEndian ? index + step : index + count - 1 - step])
    }
    return number
  }

  /// A small number, in `count` bytes at most 4.
  func integer(at index: Int, _ count: Int, bigEndian: Bool) -> Int? {
    number(at: index, count, bigEndian: bigEndian).map { Int($0) }
  }

  /// `number` in its lowest `count` bytes.
  init(_ number: Int, _ count: Int, bigEndian: Bool) {
    let bits = UInt64(bitPattern: Int64(number))
    let places = bigEndian ? Array<Int>((0..<count).reversed()) : Array<Int>(0..<count)
    self = places.map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
  }

  /// The text of four bytes, such as `fmt `; nil where they are no printable letters.
  func identifier(at index: Int) -> String? {
    guard index >= 0, index + 4 <= count else { return nil }
    let letters = self[index..<index + 4]
    guard letters.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0xA9 }) else { return nil }
    return String(letters.map { Character(Unicode.Scalar($0)) })
  }
}

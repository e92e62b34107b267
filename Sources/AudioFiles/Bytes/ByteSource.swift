import Glibc
import Synchronization

/// Bytes that can be read from any place, wherever they come from: a file behind a network.
///
/// A read may wait. `interrupt` ends the wait from another thread.
public protocol ByteSource: AnyObject, Sendable {
  /// What messages call it.
  var name: String { get }

  /// How many bytes there are; nil where that is not known, or where there is no end.
  var byteCount: Int? { get }

  /// Whether bytes can be had from any place, and not only one after the other.
  var isSeekable: Bool { get }

  /// Fills `bytes` with what begins at `offset` and returns how many bytes came: at least one, and
  /// less than its room only where no more are there yet; 0 at the end, or after `interrupt`. Waits
  /// until there is something. One thread at a time. Throws `.readFailed` or `.cannotOpen` where no
  /// more can be had.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int

  /// How many bytes can be read from `offset` on without waiting. Any thread.
  func readyByteCount(at offset: Int) -> Int

  /// Bytes a second that come in at present; nil where they are all there. Any thread.
  var bytesPerSecond: Double? { get }

  /// Whether no more bytes can be had: reads of what is not here yet fail instead of waiting. Any
  /// thread.
  var isBroken: Bool { get }

  /// Whether `interrupt` was called and `proceed` not yet. Any thread.
  var isInterrupted: Bool { get }

  /// Ends a read that waits, and all further ones at once, until `proceed`. Any thread.
  func interrupt()

  /// Lets reads wait again. Any thread.
  func proceed()

  /// What the source says is playing right now, where it is a radio station. Any thread.
  var announcedTitle: String? { get }

  /// What the source says its bytes are (`audio/mpeg`); nil where it does not.
  var contentType: String? { get }

  /// Bits a second that the source announces; nil where it does not.
  var announcedBitRate: Int? { get }
}

/// What suits bytes that are all there, and for which nothing waits.
extension ByteSource {
  /// Never.
  public var isBroken: Bool { false }
  /// All are there.
  public var bytesPerSecond: Double? { nil }
  /// Nothing says so.
  public var announcedTitle: String? { nil }
  /// Nothing says so.
  public var contentType: String? { nil }
  /// Nothing says how many bits a second there are.
  public var announcedBitRate: Int? { nil }
}

/// Bytes that are all there, and can be had from any place.
protocol PresentBytes: ByteSource {}

extension PresentBytes {
  var isSeekable: Bool { true }
  var isInterrupted: Bool { false }
  func readyByteCount(at offset: Int) -> Int { max(0, (byteCount ?? 0) - offset) }
  func interrupt() {}
  func proceed() {}
}

/// What stands for standard input among paths, and what messages call it.
enum StandardInput {
  static let path = "-"
  static let name = "standard input"
}

/// The bytes of a file on disk.
final class LocalFile: PresentBytes {
  private let descriptor: FileDescriptor
  /// Where in the file the bytes begin: standard input may have been read by others before.
  private let start: Int
  let name: String
  let byteCount: Int?

  /// Opens `path`; standard input where it is `-`. Throws `.cannotOpen` or `.permissionDenied`.
  init(path: String) throws(FileFailure) {
    let isStandardInput = path == StandardInput.path
    name = isStandardInput ? StandardInput.name : path
    do throws(SystemError) {
      let opened =
        isStandardInput
        ? try FileDescriptor(duplicating: STDIN_FILENO) : try FileDescriptor.file(at: path)
      let status = try opened.status
      if status.isFolder { throw SystemError(number: EISDIR) }
      start = opened.position ?? 0
      byteCount = max(0, status.byteCount - start)
      descriptor = opened
    } catch {
      throw isStandardInput && error.number == EBADF ? .closedInput : .opening(name, error)
    }
  }

  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    try telling(try descriptor.read(into: bytes, at: start + offset)) { .reading(name, $0) }
  }
}

/// Bytes that are there already, read as those of a file are.
final class BytesInMemory: PresentBytes {
  private let bytes: [UInt8]
  let name: String
  var byteCount: Int? { bytes.count }

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
}

/// How much may be read to find out what bytes hold: tags and pictures come before the sound, but not
/// without end.
struct OpeningAllowance {
  /// Bytes in one go: a comment of Vorbis or Opus is held in memory, whole.
  private static let longestRun = 16 << 20
  /// Bytes in all, where they are not near.
  private static let farByteCount = 64 << 20

  /// Places gone to: each of the streams that follow one another in an Ogg file takes some, and memory.
  private static let mostJumps = 8192

  private var total: Int
  private var run = 0
  private var jumps = 0

  /// That of a file of `byteCount` bytes, some of which may be read several times; of bytes from elsewhere
  /// where nil.
  init(byteCount: Int?) {
    total = Self.farByteCount + 8 * (byteCount ?? 0)
  }

  /// What is read next does not follow what was read last.
  mutating func jump() {
    run = 0
    jumps += 1
  }

  /// Takes note of `count` bytes that were read. False where that is too much.
  mutating func take(_ count: Int) -> Bool {
    total -= count
    run += count
    return total >= 0 && run <= Self.longestRun && jumps <= Self.mostJumps
  }
}

extension FileFailure {
  /// One cannot go back in it.
  static func onlyForward(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) can only be read from its beginning to its end.",
      hint: "Save it to a file first.")
  }

  /// Much was read, and no sound found.
  static func noSoundWithin(_ name: String, _ byteCount: Int) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) holds no sound in its first \(byteCount >> 20) MiB.",
      hint: "Check what it is; ffmpeg may take its tags and pictures off.")
  }
}

/// What comes through a pipe from another program: once, and in order.
final class PipeSource: ByteSource {
  private let descriptor: FileDescriptor
  private let signal: WakeSignal
  private let interruption = Mutex(false)

  let name: String
  var byteCount: Int? { nil }
  var isSeekable: Bool { false }

  /// Takes over the reading end of a pipe. Throws `.cannotOpen` where no more files can be open.
  init(
    _ descriptor: consuming FileDescriptor, name: String = StandardInput.name
  ) throws(FileFailure) {
    signal = try WakeSignal()
    self.descriptor = descriptor
    self.name = name
  }

  /// Opens standard input where `path` is `-`, else a pipe or a device of that name: neither opening it
  /// nor reading waits for a program at the other end once it is interrupted. nil where that is a
  /// file on disk.
  convenience init?(path: String) throws(FileFailure) {
    let isStandardInput = path == StandardInput.path
    let name = isStandardInput ? StandardInput.name : path
    guard let opened = try Self.pipe(isStandardInput ? nil : path, name) else { return nil }
    try self.init(opened, name: name)
  }

  /// What is at `path`, or is standard input where that is nil; nil where it is a file on disk.
  private static func pipe(
    _ path: String?, _ name: String
  ) throws(FileFailure) -> FileDescriptor? {
    do throws(SystemError) {
      let opened: FileDescriptor
      if let path {
        opened = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
      } else {
        opened = try FileDescriptor(duplicating: STDIN_FILENO)
      }
      let status = try opened.status
      if status.isFolder { throw SystemError(number: EISDIR) }
      if status.isRegular { return nil }
      return opened
    } catch {
      throw path == nil && error.number == EBADF ? .closedInput : .opening(name, error)
    }
  }

  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    while !isInterrupted {
      var waits = [
        pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waits, 2, -1) > 0 else { continue }
      if waits[1].revents != 0 { signal.clear() }
      guard waits[0].revents != 0 else { continue }
      let count = Glibc.read(descriptor.number, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      switch errno {
      case EINTR, EAGAIN: continue
      // Where nothing was open, the number went to something that is no file.
      case EINVAL, EBADF: throw .closedInput
      default: throw .reading(name, .last)
      }
    }
    return 0
  }

  /// It is not known how fast the other program is: sound does not wait for more of it than it needs.
  func readyByteCount(at offset: Int) -> Int { 1 << 52 }

  var isInterrupted: Bool { interruption.withLock { $0 } }

  func interrupt() {
    interruption.withLock { $0 = true }
    signal.send()
  }

  func proceed() { interruption.withLock { $0 = false } }
}

import Glibc
import RealtimeAudio

/// A source of bytes from a pipe or a device. Each byte can be read only once, in order.
final class PipeSource: ByteSource {
  private let descriptor: FileDescriptor
  private let signal: WakeSignal
  private let interruption = MutexBox(false)
  /// The identity of the pipe, which is reserved while this object is its only reader.
  private let claimed: FileIdentity?
  /// The pipes that are being read. Two readers of one pipe would each get only part of the data.
  private static let pipesInUse = MutexBox<Set<FileIdentity>>([])

  let name: String
  var byteCount: Int? { nil }
  var isSeekable: Bool { false }

  /// Takes ownership of the reading end of a pipe. Throws `.cannotOpen` if no more files can be
  /// opened, and `.invalidRequest` if the pipe is already being read.
  init(
    _ descriptor: consuming FileDescriptor, name: String = StandardInput.name
  ) throws(FileFailure) {
    signal = try WakeSignal(for: name)
    let pipe: FileIdentity?
    do throws(SystemError) {
      pipe = try descriptor.status.isPipe ? FileIdentity(descriptor) : nil
    } catch {
      throw .opening(name, error)
    }
    self.descriptor = descriptor
    self.name = name
    if let pipe, !Self.pipesInUse.withLock({ $0.insert(pipe).inserted }) {
      claimed = nil
      throw .readOnce(name)
    }
    claimed = pipe
  }

  deinit {
    if let claimed { _ = Self.pipesInUse.withLock { $0.remove(claimed) } }
  }

  /// Opens standard input if `path` is `-`, otherwise the pipe or device at `path`. Returns nil if
  /// that is a file on disk. Opening does not wait for a program at the other end, and a read stops
  /// waiting when it is interrupted.
  convenience init?(path: String) throws(FileFailure) {
    let isStandardInput = path == StandardInput.path
    let name = isStandardInput ? StandardInput.name : path
    guard let opened = try Self.pipe(isStandardInput ? nil : path, name) else { return nil }
    try self.init(opened, name: name)
  }

  /// Opens `path`, or standard input if `path` is nil. Returns nil if that is a file on disk.
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
      guard poll(&waits, 2, -1) > 0 else {
        if errno == EINTR { continue }
        throw .reading(name, .last)
      }
      if waits[1].revents != 0 { signal.clear() }
      guard waits[0].revents != 0 else { continue }
      let count = Glibc.read(descriptor.number, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      switch errno {
      case EINTR, EAGAIN: continue
      // If standard input was closed, its descriptor number may belong to an object that is not a
      // file.
      case EINVAL, EBADF: throw .closedInput
      default: throw .reading(name, .last)
      }
    }
    return 0
  }

  /// Returns a very large number. The speed of the other program is unknown, so playback starts
  /// without waiting for more bytes than it needs.
  func readyByteCount(at offset: Int) -> Int { 1 << 52 }

  var isInterrupted: Bool { interruption.withLock { $0 } }

  func interrupt() {
    interruption.withLock { $0 = true }
    signal.send()
  }

  func proceed() { interruption.withLock { $0 = false } }
}

import Glibc
import Synchronization

/// Bytes that come through a pipe from another program: once, and in order.
final class PipeSource: ByteSource {
  private let descriptor: FileDescriptor
  private let signal: WakeSignal
  private let interruption = Mutex(false)
  /// The pipe, for as long as this is its only reader.
  private let claimed: FileIdentity?
  /// Pipes that are being read: what one reader takes another one would miss.
  private static let pipesInUse = Mutex<Set<FileIdentity>>([])

  let name: String
  var byteCount: Int? { nil }
  var isSeekable: Bool { false }

  /// Takes over the reading end of a pipe. Throws `.cannotOpen` where no more files can be open,
  /// and `.invalidRequest` where it is being read already.
  init(
    _ descriptor: consuming FileDescriptor, name: String = StandardInput.name
  ) throws(FileFailure) {
    signal = try WakeSignal()
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

  /// Opens standard input where `path` is `-`, else a pipe or a device of that name: neither
  /// opening it nor reading waits for a program at the other end once it is interrupted. nil where
  /// that is a file on disk.
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
      // Where nothing was open, the number went to something that is no file.
      case EINVAL, EBADF: throw .closedInput
      default: throw .reading(name, .last)
      }
    }
    return 0
  }

  /// It is not known how fast the other program is: sound does not wait for more of it than it
  /// needs.
  func readyByteCount(at offset: Int) -> Int { 1 << 52 }

  var isInterrupted: Bool { interruption.withLock { $0 } }

  func interrupt() {
    interruption.withLock { $0 = true }
    signal.send()
  }

  func proceed() { interruption.withLock { $0 = false } }
}

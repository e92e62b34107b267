import AudioBasics
import CLinuxFiles
import Glibc

/// An open file descriptor, which is closed when it goes out of scope.
struct FileDescriptor: ~Copyable {
  let number: Int32

  /// Takes ownership of an open descriptor.
  init(owning number: Int32) {
    self.number = number
  }

  /// Opens `path`; a file that this creates has the usual permissions.
  init(opening path: String, _ flags: Int32) throws(SystemError) {
    number = try FileSystem.open(path, flags)
  }

  /// Opens the file on disk at `path` for reading and waits for nothing else: throws `EISDIR` for a
  /// folder, and `ESPIPE` for a pipe, a socket or a device.
  static func file(at path: String) throws(SystemError) -> FileDescriptor {
    let opened = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
    let status = try opened.status
    if status.isFolder { throw SystemError(number: EISDIR) }
    if !status.isRegular { throw SystemError(number: ESPIPE) }
    return opened
  }

  /// Duplicates `original`, which remains with its owner.
  init(duplicating original: Int32) throws(SystemError) {
    let copy = fcntl(original, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .last }
    number = copy
  }

  deinit {
    _ = Glibc.close(number)
  }

  /// Transfers the descriptor to a new owner.
  consuming func release() -> Int32 {
    let number = self.number
    discard self
    return number
  }

  /// The kind of the file, and its size.
  var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      guard fstat(number, &status) == 0 else { throw .last }
      return FileStatus(status)
    }
  }

  /// The offset of the next read or write; nil for a pipe.
  var position: Int? {
    let position = lseek(number, 0, SEEK_CUR)
    return position >= 0 ? position : nil
  }

  /// Sets the offset of the next read or write in a seekable file.
  func seek(to position: Int) throws(SystemError) {
    guard lseek(number, position, SEEK_SET) >= 0 else { throw .last }
  }

  /// Reads bytes at the offset `offset` into `bytes` with one call; returns their number, 0 at the
  /// end.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try Self.read(into: bytes, at: offset, of: number)
  }

  /// Returns the `count` bytes from `offset` on, or as many as there are.
  func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    try Self.bytes(at: offset, count: count, of: number)
  }

  /// Returns bytes in the same way from a descriptor that has another owner.
  static func bytes(
    at offset: Int, count: Int, of descriptor: Int32
  ) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = try bytes.withUnsafeMutableBufferPointer { memory throws(SystemError) in
      let memory = UnsafeMutableRawBufferPointer(memory)
      var done = 0
      while done < count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
        let got = try read(into: rest, at: offset + done, of: descriptor)
        if got == 0 { break }
        done += got
      }
      return done
    }
    bytes.removeLast(count - done)
    return bytes
  }

  private static func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int, of descriptor: Int32
  ) throws(SystemError) -> Int {
    while true {
      let count = pread(descriptor, bytes.baseAddress, bytes.count, offset)
      if count >= 0 { return count }
      guard errno == EINTR else { throw .last }
    }
  }

  /// Locks the file against other programs that lock files before writing, as long as the
  /// descriptor or a duplicate is open. Throws `EWOULDBLOCK` if another program has the lock; does
  /// nothing if files cannot be locked.
  func lock() throws(SystemError) {
    guard flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw .last }
  }

  /// Sets the size of the file, shorter or longer.
  func truncate(to byteCount: Int) throws(SystemError) {
    guard ftruncate(number, byteCount) == 0 else { throw .last }
  }
}

/// The kind and size of a file.
struct FileStatus {
  let isFolder: Bool
  let isRegular: Bool
  /// Whether the contents can be read only once.
  let isPipe: Bool
  let byteCount: Int

  init(_ status: stat) {
    let type = status.st_mode & S_IFMT
    isPipe = type == S_IFIFO || type == S_IFSOCK
    isFolder = type == S_IFDIR
    isRegular = type == S_IFREG
    byteCount = min(max(0, Int(status.st_size)), FileBounds.byteCount)
  }

  /// Reads the status of `path`; nil if there is no such file.
  init?(of path: String) {
    guard let status = try? FileSystem.status(of: path) else { return nil }
    self.init(status)
  }
}

/// Upper limits on sizes and lengths that a file or a server states. Values are reduced to these
/// limits when they enter the module, so that sums of a few of them, and a length times the frame
/// size of a header, cannot overflow 64 bits.
enum FileBounds {
  /// The most bytes of a file: 8 PiB, each of which a `Double` represents exactly.
  static let byteCount = 1 << 53
  /// The most frames: 23 years at 192 kHz.
  static let frameCount = 1 << 47
  /// The most frames that one byte can represent: the longest half block of Vorbis, in a packet
  /// without bytes whose length needs one byte. FLAC and ALAC need more bytes for digital silence.
  static let framesPerByte = 8192
  /// The number of bytes that are searched for the beginning of audio, if nothing states its
  /// offset.
  static let searchByteCount = 4 << 20
  /// The most useful bits of a sample: a file that has more also contains other data.
  static let bitsPerSample = 64

  /// Returns `announced` frames, limited to the number that `byteCount` bytes can hold in any
  /// encoding; nil for a negative number.
  static func frameCount(_ announced: Int, inBytes byteCount: Int?) -> Int? {
    guard announced >= 0 else { return nil }
    guard let byteCount, byteCount < frameCount / framesPerByte else {
      return min(announced, frameCount)
    }
    return min(announced, max(0, byteCount) * framesPerByte)
  }

  /// Returns the rate of `bytes` bytes in `seconds` seconds, in bits per second, limited to the
  /// most that its channels can need at this sample rate; nil if `seconds` is not positive.
  static func bitRate(
    bytes: Int, seconds: Double, sampleRate: Int, channelCount: Int
  ) -> Int? {
    guard seconds > 0 else { return nil }
    let counted = Int(rounding: Double(bytes) * 8 / seconds)
    return bitRate(counted, sampleRate: sampleRate, channelCount: channelCount)
  }

  /// Returns `announced` bits per second, limited to the most that its channels can need at this
  /// rate.
  static func bitRate(_ announced: Int, sampleRate: Int, channelCount: Int) -> Int {
    min(announced, sampleRate * channelCount * bitsPerSample)
  }
}

extension Int {
  /// Returns this offset plus `distance`; nil if no file can have such an offset.
  func offset(movedBy distance: Int) -> Int? {
    let (moved, isBeyond) = addingReportingOverflow(distance)
    return isBeyond || !(0...FileBounds.byteCount).contains(moved) ? nil : moved
  }
}

/// A signal that ends a thread's wait for a pipe or for the network from another thread.
final class WakeSignal: Sendable {
  private let receiver: FileDescriptor
  private let sender: FileDescriptor

  /// Throws `.cannotOpen` if no more files can be open.
  init() throws(FileFailure) {
    var ends: [Int32] = [0, 0]
    guard linux_pipe(&ends, false) else {
      throw FileFailure(
        .cannotOpen, "No pipe can be made: \(SystemError.last.reason).",
        hint: "Raise the limit of open files with ulimit -n.")
    }
    receiver = FileDescriptor(owning: ends[0])
    sender = FileDescriptor(owning: ends[1])
  }

  /// The descriptor to poll.
  var descriptor: Int32 { receiver.number }

  /// Ends the wait. Any thread. If the pipe is full, the wait ends as well.
  func send() {
    var byte: UInt8 = 1
    _ = write(sender.number, &byte, 1)
  }

  /// Discards the signals sent so far.
  func clear() {
    var bytes: (UInt64, UInt64) = (0, 0)
    while read(receiver.number, &bytes, 16) == 16 {}
  }
}

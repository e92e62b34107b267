import AudioBasics
import CLinuxFiles
import Glibc

/// A file the kernel holds open for us, until it goes out of scope.
struct FileDescriptor: ~Copyable {
  let number: Int32

  /// Takes over an open descriptor.
  init(owning number: Int32) {
    self.number = number
  }

  /// Opens `path`; a file that this creates has the usual permissions.
  init(opening path: String, _ flags: Int32) throws(SystemError) {
    number = try FileSystem.open(path, flags)
  }

  /// Opens the file on disk at `path` to be read. Nothing else is waited for: a folder is refused
  /// with `EISDIR`, a pipe, a socket or a device with `ESPIPE`.
  static func file(at path: String) throws(SystemError) -> FileDescriptor {
    let opened = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
    let status = try opened.status
    if status.isFolder { throw SystemError(number: EISDIR) }
    if !status.isRegular { throw SystemError(number: ESPIPE) }
    return opened
  }

  /// Another descriptor of the file behind `original`, which stays with its owner.
  init(duplicating original: Int32) throws(SystemError) {
    let copy = fcntl(original, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .last }
    number = copy
  }

  deinit {
    _ = Glibc.close(number)
  }

  /// Hands the descriptor to a new owner.
  consuming func release() -> Int32 {
    let number = self.number
    discard self
    return number
  }

  /// What kind of file it is, and how long.
  var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      guard fstat(number, &status) == 0 else { throw .last }
      return FileStatus(status)
    }
  }

  /// Where the next byte is read or written; nil for a pipe.
  var position: Int? {
    let position = lseek(number, 0, SEEK_CUR)
    return position >= 0 ? position : nil
  }

  /// Goes back or ahead in a file that can.
  func seek(to position: Int) throws(SystemError) {
    guard lseek(number, position, SEEK_SET) >= 0 else { throw .last }
  }

  /// Fills `bytes` with what begins at `place`, as far as one call goes; returns how many, 0 at the
  /// end.
  func read(into bytes: UnsafeMutableRawBufferPointer, at place: Int) throws(SystemError) -> Int {
    try Self.read(into: bytes, at: place, of: number)
  }

  /// As many of the `count` bytes from `place` on as there are.
  func bytes(at place: Int, count: Int) throws(SystemError) -> [UInt8] {
    try Self.bytes(at: place, count: count, of: number)
  }

  /// The same for a descriptor that is another's.
  static func bytes(
    at place: Int, count: Int, of descriptor: Int32
  ) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = try bytes.withUnsafeMutableBufferPointer { memory throws(SystemError) in
      let memory = UnsafeMutableRawBufferPointer(memory)
      var done = 0
      while done < count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
        let got = try read(into: rest, at: place + done, of: descriptor)
        if got == 0 { break }
        done += got
      }
      return done
    }
    bytes.removeLast(count - done)
    return bytes
  }

  private static func read(
    into bytes: UnsafeMutableRawBufferPointer, at place: Int, of descriptor: Int32
  ) throws(SystemError) -> Int {
    while true {
      let count = pread(descriptor, bytes.baseAddress, bytes.count, place)
      if count >= 0 { return count }
      guard errno == EINTR else { throw .last }
    }
  }

  /// Keeps others from writing it in the same way, for as long as it or a duplicate is open. Throws
  /// `EWOULDBLOCK` where another program does; where files cannot be locked, nothing happens.
  func lock() throws(SystemError) {
    guard flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw .last }
  }

  /// Cuts the file off, or makes it longer.
  func truncate(to byteCount: Int) throws(SystemError) {
    guard ftruncate(number, byteCount) == 0 else { throw .last }
  }
}

/// Kind and size of the file that a path or a descriptor names.
struct FileStatus {
  let isFolder: Bool
  let isRegular: Bool
  /// Whether what is in it can be read once.
  let isPipe: Bool
  let byteCount: Int

  init(_ status: stat) {
    let type = status.st_mode & S_IFMT
    isPipe = type == S_IFIFO || type == S_IFSOCK
    isFolder = type == S_IFDIR
    isRegular = type == S_IFREG
    byteCount = min(max(0, Int(status.st_size)), FileBounds.byteCount)
  }

  /// That of `path`; nil where there is nothing.
  init?(of path: String) {
    guard let status = try? FileSystem.status(of: path) else { return nil }
    self.init(status)
  }
}

/// Upper limits on sizes and lengths that a file or a server gives. What enters the module is
/// brought below these, so that sums of a few of them, and a length times the bytes of a frame
/// header, cannot overflow 64 bits.
enum FileBounds {
  /// Bytes of a file: 8 PiB, each of which a `Double` counts exactly.
  static let byteCount = 1 << 53
  /// Frames of a sound: 23 years at 192 kHz.
  static let frameCount = 1 << 47
  /// Frames that one byte stands for at most: the longest half block of Vorbis, in a packet without
  /// bytes whose length takes one. FLAC and ALAC need more bytes for digital silence.
  static let framesPerByte = 8192
  /// Bytes that are looked at for a beginning of sound, where nothing says how far away it is.
  static let searchByteCount = 4 << 20
  /// Bits of a sample that anything sounds like: what has more holds something else as well.
  static let bitsPerSample = 64

  /// The `announced` frames, as far as `byteCount` bytes can hold them in any encoding; nil for a
  /// number that is none.
  static func frameCount(_ announced: Int, inBytes byteCount: Int?) -> Int? {
    guard announced >= 0 else { return nil }
    guard let byteCount, byteCount < frameCount / framesPerByte else {
      return min(announced, frameCount)
    }
    return min(announced, max(0, byteCount) * framesPerByte)
  }

  /// `bytes` over `seconds`, in bits a second, and no more than its channels at this rate can need;
  /// nil where that is no rate.
  static func bitRate(
    bytes: Int, seconds: Double, sampleRate: Int, channelCount: Int
  ) -> Int? {
    guard seconds > 0 else { return nil }
    let counted = Int(rounding: Double(bytes) * 8 / seconds)
    return bitRate(counted, sampleRate: sampleRate, channelCount: channelCount)
  }

  /// `announced` bits a second, and no more than its channels at this rate can need.
  static func bitRate(_ announced: Int, sampleRate: Int, channelCount: Int) -> Int {
    min(announced, sampleRate * channelCount * bitsPerSample)
  }
}

extension Int {
  /// This place, `offset` bytes further on; nil where no file has such a place.
  func place(movedBy offset: Int) -> Int? {
    let (place, isBeyond) = addingReportingOverflow(offset)
    return isBeyond || !(0...FileBounds.byteCount).contains(place) ? nil : place
  }
}

/// Ends the network thread's wait from another thread.
final class WakeSignal: Sendable {
  private let receiver: FileDescriptor
  private let sender: FileDescriptor

  /// Throws `.cannotOpen` where no more files can be open.
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

  /// What to poll.
  var descriptor: Int32 { receiver.number }

  /// Any thread. A pipe that is full wakes as well.
  func send() {
    var byte: UInt8 = 1
    _ = write(sender.number, &byte, 1)
  }

  /// Forgets what was sent.
  func clear() {
    var bytes: (UInt64, UInt64) = (0, 0)
    while read(receiver.number, &bytes, 16) == 16 {}
  }
}

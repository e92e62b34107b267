import CSndFile
import Glibc
import Synchronization

/// One file is opened at a time: libsndfile keeps why it refused one in variables that all threads
/// share.
private let opening = Mutex(())

/// A sound file libsndfile holds open, and its descriptor or bytes, until it goes out of scope.
struct SoundFileHandle: ~Copyable {
  let pointer: OpaquePointer
  /// That of a file being written; -1 where one is read.
  let descriptor: Int32
  /// What is read, kept for libsndfile's callbacks, who hold no reference of their own.
  private let kept: Unmanaged<VirtualFile>?

  /// Begins the file behind `descriptor`, which is empty; `info` says what is written.
  init(
    writing descriptor: consuming FileDescriptor, info: inout SF_INFO
  ) throws(SoundFileRefusal) {
    // Where libsndfile refuses a file, it has closed the descriptor, whatever it was told (from
    // 1.0.30 on): closed once more, that might be another thread's.
    let number = descriptor.release()
    pointer = try opening.withLock { _ throws(SoundFileRefusal) in
      errno = 0
      // It stays ours: libsndfile's own closing hides the errors of close.
      let opened = sf_open_fd(number, Int32(SFM_WRITE), &info, Int32(SF_FALSE))
      guard let opened else { throw .last }
      return opened
    }
    self.descriptor = number
    kept = nil
  }

  /// Opens `file` to be read; nil where libsndfile refuses it.
  init?(_ file: VirtualFile, info: inout SF_INFO) {
    var callbacks = VirtualFile.callbacks
    let kept = Unmanaged.passRetained(file)
    // Not within the lock above: these bytes may wait for a network.
    guard let opened = sf_open_virtual(&callbacks, Int32(SFM_READ), &info, kept.toOpaque()) else {
      kept.release()
      return nil
    }
    pointer = opened
    descriptor = -1
    self.kept = kept
  }

  deinit {
    sf_close(pointer)
    if descriptor >= 0 { Glibc.close(descriptor) }
    kept?.release()
  }

  /// Closes both, and says what went wrong: the last bytes are written here. `isWhole` looks at the
  /// complete file, and at what the kernel refused last, while the descriptor is still open.
  consuming func close(
    isWhole: (SystemError) -> Bool = { _ in true }
  ) throws(SystemError) {
    errno = 0
    let isDone = sf_close(pointer) == 0
    let number = errno
    let failed = !isWhole(SystemError(number: number)) || !isDone
    let isClosed = descriptor < 0 || Glibc.close(descriptor) == 0
    let closeNumber = errno
    kept?.release()
    discard self
    if failed { throw SystemError(number: number == 0 ? EIO : number) }
    if !isClosed { throw SystemError(number: closeNumber) }
  }

  /// A command with a number.
  func set(_ command: Int, _ value: Double) {
    var value = value
    sf_command(pointer, Int32(command), &value, Int32(MemoryLayout<Double>.size))
  }
}

/// Reason why a file could not be begun: an error of the kernel or of an encoder.
enum SoundFileRefusal: Error {
  /// The kernel refused something.
  case system(SystemError)
  /// An encoder does not take it, in words.
  case encoder(String)

  /// That of the last opening that failed. What is to be written was checked before: where the
  /// kernel refused something, that is why, whatever libsndfile calls it.
  static var last: SoundFileRefusal {
    let error = SystemError.last
    if error.number != 0 { return .system(error) }
    var words = sf_strerror(nil).map { String(cString: $0) } ?? "unknown reason"
    while words.last == "." || words.last == " " { words.removeLast() }
    return .encoder(words)
  }
}

/// Bytes from anywhere as a file for libsndfile.
final class VirtualFile {
  let bytes: BufferedBytes
  /// Where in the bytes the file begins.
  private let start: Int
  private let byteCount: Int
  /// What libsndfile is told before it looks: nothing, or what bare samples are like.
  private let expectation: SF_INFO
  /// Whether libsndfile is opening the bytes, and these have stopped by a failure or an
  /// interruption. It is told then that the file ends here: its readers of some formats would read
  /// the same chunk for ever.
  private var hasStopped: Bool { isOpening && bytes.isStopped }
  private var isOpening = false

  /// Where there is no end, libsndfile is told of one that is never reached.
  private static let endless = 1 << 52

  /// The file from `start` to `end`; to the end of all bytes where that is nil.
  init(
    _ bytes: BufferedBytes, start: Int = 0, end: Int? = nil, expectation: SF_INFO = SF_INFO()
  ) {
    self.expectation = expectation
    self.bytes = bytes
    self.start = start
    byteCount = (end ?? bytes.byteCount ?? Self.endless) - start
    bytes.position = start
  }

  /// Whether its samples are bare.
  var isBare: Bool { expectation.format != 0 }

  /// Opens it, from its beginning; `info` says what was found. Throws `.unusableContents`, and what
  /// the bytes throw.
  func open(_ info: inout SF_INFO) throws(FileFailure) -> SoundFileHandle {
    bytes.recover()
    bytes.position = start
    info = expectation
    isOpening = true
    defer { isOpening = false }
    if let handle = SoundFileHandle(self, info: &info) { return handle }
    try bytes.checkOpening()
    let beginning = (try? bytes.bytes(at: start, count: 4).number(at: 0, 4, bigEndian: true)) ?? 0
    throw .refused(bytes.name, SoundSource.kind(ofFile: UInt32(beginning)))
  }

  private func read(_ memory: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    guard !hasStopped else { return 0 }
    let rest = max(0, start + byteCount - bytes.position)
    return bytes.readForCallback(memory, min(count, rest), isWhole: true)
  }

  private func seek(to offset: Int, _ origin: Int32) -> Int {
    guard !hasStopped else { return -1 }
    let origin =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: bytes.position - start
      default: byteCount
      }
    guard let target = origin.place(movedBy: offset) else { return -1 }
    bytes.position = start + target
    return target
  }

  /// What libsndfile calls, with an unretained reference to a `VirtualFile` as its own argument.
  static var callbacks: SF_VIRTUAL_IO {
    SF_VIRTUAL_IO(
      get_filelen: { sf_count_t(VirtualFile.of($0)?.byteCount ?? 0) },
      seek: { offset, origin, owner in
        sf_count_t(VirtualFile.of(owner)?.seek(to: Int(offset), origin) ?? -1)
      },
      read: { memory, count, owner in
        sf_count_t(VirtualFile.of(owner)?.read(memory, Int(count)) ?? 0)
      },
      write: { _, _, _ in 0 },
      tell: { owner in
        guard let file = VirtualFile.of(owner) else { return -1 }
        return sf_count_t(file.hasStopped ? file.byteCount : file.bytes.position - file.start)
      })
  }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> VirtualFile? {
    owner.map { Unmanaged<VirtualFile>.fromOpaque($0).takeUnretainedValue() }
  }
}

import CSndFile
import Glibc
import RealtimeAudio

/// The lock for creating files. libsndfile stores the reason of a failed creation in variables
/// shared by all threads, so files are created one at a time.
private let creation = MutexBox(())

/// An audio file opened by libsndfile, with its descriptor or bytes. It is closed when it goes out
/// of scope.
struct SoundFileHandle: ~Copyable {
  let pointer: OpaquePointer
  /// The descriptor of a file being written; -1 for a file being read.
  let descriptor: Int32
  /// The source of a file being read. This reference keeps it alive for the callbacks of
  /// libsndfile, which do not retain it.
  private let kept: Unmanaged<VirtualFile>?

  /// Starts a new audio file. `descriptor` refers to an empty file, and `info` describes the
  /// samples.
  init(
    writing descriptor: consuming FileDescriptor, info: inout SF_INFO
  ) throws(SoundFileRefusal) {
    // If libsndfile refuses a file, it closes the descriptor in any case (since 1.0.30). Closing
    // the number again might close a descriptor of another thread.
    let number = descriptor.release()
    pointer = try creation.withLock { _ throws(SoundFileRefusal) in
      errno = 0
      // SF_FALSE: the descriptor is closed here, because libsndfile hides errors of close().
      let opened = sf_open_fd(number, Int32(SFM_WRITE), &info, Int32(SF_FALSE))
      guard let opened else { throw .last }
      return opened
    }
    self.descriptor = number
    kept = nil
  }

  /// Opens `file` for reading. Returns nil if libsndfile refuses it.
  init?(_ file: VirtualFile, info: inout SF_INFO) {
    var callbacks = VirtualFile.callbacks
    let kept = Unmanaged.passRetained(file)
    // The lock above is not held here, because these bytes may come from a network. The reason of
    // a refusal is not read.
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

  /// Closes the file and its descriptor, and throws the error if this fails: the last bytes are
  /// written here. `isWhole` checks the complete file, and receives the last error of the kernel,
  /// while the descriptor is still open.
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

  /// Sends a command with a numeric argument to libsndfile.
  func set(_ command: Int, _ value: Double) {
    var value = value
    sf_command(pointer, Int32(command), &value, Int32(MemoryLayout<Double>.size))
  }
}

/// The reason why a file could not be created: an error of the kernel or of an encoder.
enum SoundFileRefusal: Error {
  /// The kernel reported an error.
  case system(SystemError)
  /// The encoder rejected the parameters. The text gives the reason.
  case encoder(String)

  /// The reason of the last failed opening. The parameters were checked before, so an error of the
  /// kernel is the cause if there is one, whatever error libsndfile reports.
  static var last: SoundFileRefusal {
    let error = SystemError.last
    if error.number != 0 { return .system(error) }
    var words = sf_strerror(nil).map { String(cString: $0) } ?? "unknown reason"
    while words.last == "." || words.last == " " { words.removeLast() }
    return .encoder(words)
  }
}

/// Bytes of a header that libsndfile must not read.
struct HeadReplacement: Equatable {
  let offset: Int
  let bytes: [UInt8]

  /// libsndfile does not know BW64. RF64 differs from it in the first four bytes only.
  static let bw64 = HeadReplacement(offset: 0, bytes: Array(SoundContainer.rf64.identifier.utf8))
  /// The size of the samples of an AU file is unknown.
  static let openAU = HeadReplacement(offset: 8, bytes: [0xFF, 0xFF, 0xFF, 0xFF])

  /// Returns the replacement for a file of this container in `bytes`.
  init?(_ container: SoundContainer?, in bytes: BufferedBytes) throws(FileFailure) {
    switch container {
    case .bw64: self = .bw64
    case .au, .littleEndianAU:
      let head = try bytes.bytes(at: 0, count: 12)
      guard head.integer(at: 8, 4, bigEndian: true) == 0 else { return nil }
      self = .openAU
    case .riff, .rifx, .rf64, .wave64, .aiff, .caf, .flac, .ogg, nil: return nil
    }
  }

  private init(offset: Int, bytes: [UInt8]) {
    self.offset = offset
    self.bytes = bytes
  }
}

/// A virtual file for libsndfile that reads from a byte source.
final class VirtualFile {
  let bytes: BufferedBytes
  /// The offset in the bytes at which the file begins.
  private let start: Int
  private let byteCount: Int
  /// The description given to libsndfile before opening: empty, or the format of raw samples.
  private let expectation: SF_INFO
  /// Whether libsndfile is opening the bytes, and they have stopped because of a failure or an
  /// interruption. In this case the end of the file is reported to libsndfile, because its readers
  /// of some formats would otherwise read the same chunk forever.
  private var hasStopped: Bool { isOpening && bytes.isStopped }
  private var isOpening = false
  /// The number of bytes that may still be read; the file appears to end after them.
  var allowedByteCount = Int.max
  /// Bytes that libsndfile reads instead of those of the file; nil if there are none.
  private let replacement: HeadReplacement?
  /// Whether the file is BW64.
  var isBW64: Bool { replacement == .bw64 }

  /// The length reported to libsndfile if the source has no end. It is never reached.
  private static let endless = 1 << 52

  /// Creates a file from the bytes between `start` and `end`; up to the end of `bytes` if `end` is
  /// nil.
  init(
    _ bytes: BufferedBytes, start: Int = 0, end: Int? = nil, expectation: SF_INFO = SF_INFO(),
    replacement: HeadReplacement? = nil
  ) {
    self.expectation = expectation
    self.replacement = replacement
    self.bytes = bytes
    self.start = start
    byteCount = (end ?? bytes.byteCount ?? Self.endless) - start
    bytes.position = start
  }

  /// Whether the file consists of raw samples.
  var isBare: Bool { expectation.format != 0 }

  /// Opens the file from its beginning, and stores its properties in `info`. Throws
  /// `.unknownContents`, `.unusableContents`, and the errors that the bytes throw.
  func open(_ info: inout SF_INFO) throws(FileFailure) -> SoundFileHandle {
    bytes.recover()
    bytes.position = start
    info = expectation
    isOpening = true
    defer { isOpening = false }
    if let handle = SoundFileHandle(self, info: &info) { return handle }
    try bytes.checkOpening()
    let beginning = (try? bytes.bytes(at: start, count: 4)) ?? []
    throw .refused(bytes.name, SoundContainer(beginning: beginning))
  }

  private func read(_ memory: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    guard !hasStopped else { return 0 }
    let offset = bytes.position - start
    let rest = min(max(0, byteCount - offset), allowedByteCount)
    let read = bytes.readForCallback(memory, min(count, rest), isWhole: true)
    if allowedByteCount < .max { allowedByteCount -= read }
    if let replacement, let memory {
      for (index, byte) in zip(replacement.offset..., replacement.bytes)
      where index >= offset && index < offset + read {
        memory.storeBytes(of: byte, toByteOffset: index - offset, as: UInt8.self)
      }
    }
    return read
  }

  private func seek(to offset: Int, _ origin: Int32) -> Int {
    guard !hasStopped else { return -1 }
    let origin =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: bytes.position - start
      default: byteCount
      }
    guard let target = origin.offset(movedBy: offset) else { return -1 }
    bytes.position = start + target
    return target
  }

  /// The callbacks for libsndfile. Their user data is an unretained reference to a `VirtualFile`.
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

import CSndFile
import Glibc
import Synchronization

/// One file is opened at a time: libsndfile keeps why it refused one in variables that all threads
/// share.
private let opening = Mutex(())

/// A sound file libsndfile holds open, and its descriptor, until it goes out of scope.
struct SoundFileHandle: ~Copyable {
  let pointer: OpaquePointer
  let descriptor: Int32

  /// Opens what is behind `descriptor`; `info` says what to expect or write, and then what is there.
  init(
    _ descriptor: consuming FileDescriptor, mode: Int32, info: inout SF_INFO
  ) throws(SoundFileRefusal) {
    let number = descriptor.number
    var refusal = SoundFileRefusal()
    let opened = opening.withLock { _ in
      errno = 0
      // The descriptor stays ours: libsndfile's own closing hides the errors of close.
      let opened = sf_open_fd(number, mode, &info, Int32(SF_FALSE))
      if opened == nil { refusal = SoundFileRefusal(nil) }
      return opened
    }
    guard let opened else { throw refusal }
    pointer = opened
    self.descriptor = descriptor.release()
  }

  deinit {
    sf_close(pointer)
    Glibc.close(descriptor)
  }

  /// Closes both, and says what went wrong: the last bytes are written here.
  consuming func close() throws(SystemError) {
    errno = 0
    let failed = sf_close(pointer) != 0
    let number = errno
    let isClosed = Glibc.close(descriptor) == 0
    let closeNumber = errno
    discard self
    if failed { throw SystemError(number: number == 0 ? EIO : number) }
    if !isClosed { throw SystemError(number: closeNumber) }
  }

  /// Takes the samples of a raw file from byte `start` on.
  func beginRaw(at start: Int) {
    var start = sf_count_t(start)
    sf_command(
      pointer, Int32(SFC_SET_RAW_START_OFFSET), &start, Int32(MemoryLayout<sf_count_t>.size))
    // The command does not go there by itself.
    sf_seek(pointer, 0, SEEK_SET)
  }

  /// A command with a number.
  func set(_ command: Int, _ value: Double) {
    var value = value
    sf_command(pointer, Int32(command), &value, Int32(MemoryLayout<Double>.size))
  }
}

/// Why libsndfile did not open something.
struct SoundFileRefusal: Error {
  let reason: String
  let system: SystemError?

  /// None yet.
  init() {
    reason = "unknown reason"
    system = nil
  }

  /// That of `handle`, or of the last opening that failed.
  init(_ handle: OpaquePointer?) {
    let number = errno
    let isSystem = sf_error(handle) == Int32(SF_ERR_SYSTEM)
    system = isSystem && number != 0 ? SystemError(number: number) : nil
    var words = sf_strerror(handle).map { String(cString: $0) } ?? "unknown reason"
    while words.last == "." || words.last == " " { words.removeLast() }
    reason = words
  }
}

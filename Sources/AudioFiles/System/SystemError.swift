import Glibc

/// What the kernel answered when it refused. Does not leave this module: see `FileFailure`.
struct SystemError: Error {
  let number: Int32

  /// The refusal of the call just made.
  static var last: SystemError { SystemError(number: errno) }

  /// In the C library's words.
  var reason: String { String(cString: strerror(number)) }

  var isFullDisk: Bool { number == ENOSPC || number == EDQUOT }
  /// Whether there was no room, or no disk any more.
  var isRefusedWrite: Bool { isFullDisk || number == EFBIG || number == EIO }
  var isDenied: Bool { number == EACCES || number == EPERM }
}

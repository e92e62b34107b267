import Glibc

/// An error of a system call. It does not leave this module: see `FileFailure`.
struct SystemError: Error {
  let number: Int32

  /// The error of the last system call.
  static var last: SystemError { SystemError(number: errno) }

  /// The C library's description of the error.
  var reason: String { String(cString: strerror(number)) }

  var isFullDisk: Bool { number == ENOSPC || number == EDQUOT }
  /// Whether the disk was full or failed.
  var isRefusedWrite: Bool { isFullDisk || number == EFBIG || number == EIO }
  var isDenied: Bool { number == EACCES || number == EPERM }
}

import Glibc

/// An error of a system call. It does not leave this module: see `FileFailure`.
struct SystemError: Error {
  let number: Int32

  /// The error of the last system call.
  static var last: SystemError { SystemError(number: errno) }

  /// The C library's description of the error; another one where that has the words of programmers.
  var reason: String {
    switch number {
    case ELOOP: "its links lead in a circle"
    case ENAMETOOLONG: "its name is too long"
    default: String(cString: strerror(number))
    }
  }

  var isFullDisk: Bool { number == ENOSPC || number == EDQUOT }
  /// Whether the disk was full or failed.
  var isRefusedWrite: Bool { isFullDisk || number == EFBIG || number == EIO }
  /// Whether this program, or all programs together, have too many files open.
  var isDescriptorLimit: Bool { number == EMFILE || number == ENFILE }
  var isDenied: Bool { number == EACCES || number == EPERM }
}

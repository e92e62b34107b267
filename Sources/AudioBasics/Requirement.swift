// Audio thread.
import Glibc

/// Ends the program with a sentence on standard error unless `holds`: a caller broke what an
/// interface asks of it.
///
/// Other than `precondition`, whose words a release build leaves out, it says what was wrong in
/// every build. On any thread, the audio thread as well: where it holds, it costs a branch that is
/// not taken.
@_noLocks @inlinable @inline(__always)
public func requirement(_ holds: Bool, _ sentence: StaticString) {
  if !holds { requirementFailed(sentence) }
}

/// Writes `sentence` to standard error, in one call and without a lock or memory, and ends the
/// program by SIGABRT.
@inline(never)
public func requirementFailed(_ sentence: StaticString) -> Never {
  let ends: (StaticString, StaticString) = ("Fatal error: ", "\n")
  var parts = (
    iovec(iov_base: .init(mutating: ends.0.utf8Start), iov_len: ends.0.utf8CodeUnitCount),
    iovec(iov_base: .init(mutating: sentence.utf8Start), iov_len: sentence.utf8CodeUnitCount),
    iovec(iov_base: .init(mutating: ends.1.utf8Start), iov_len: ends.1.utf8CodeUnitCount)
  )
  withUnsafePointer(to: &parts) { parts in
    parts.withMemoryRebound(to: iovec.self, capacity: 3) { _ = writev(STDERR_FILENO, $0, 3) }
  }
  abort()
}

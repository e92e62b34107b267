// Audio thread.
import Glibc

/// Ends the program with a sentence on standard error unless `holds`: the caller violated a
/// precondition of an interface.
///
/// Unlike `precondition`, whose message a release build leaves out, this reports the sentence in
/// every build. Any thread, including the audio thread: if the condition holds, the cost is one
/// branch that is not taken.
@_noLocks @inlinable @inline(__always)
public func requirement(_ holds: Bool, _ sentence: StaticString) {
  if !holds { requirementFailed(sentence) }
}

/// Writes `sentence` to standard error in one system call, without locking or allocating, and ends
/// the program with SIGABRT.
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

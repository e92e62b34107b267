import CLinuxFiles
import Glibc

/// A signal that ends a thread's wait for a pipe or for the network from another thread.
final class WakeSignal: Sendable {
  private let receiver: FileDescriptor
  private let sender: FileDescriptor

  /// Creates a signal for the thread that reads the input `name`. Throws `.cannotOpen` if no more
  /// files can be open.
  init(for name: String) throws(FileFailure) {
    var ends: [Int32] = [0, 0]
    guard linux_pipe(&ends, false) else { throw .opening(name, .last) }
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

import CLinuxFiles
import Glibc

/// Ends the network thread's wait from another thread.
final class WakeSignal: Sendable {
  private let receiver: FileDescriptor
  private let sender: FileDescriptor

  /// Throws `.cannotOpen` where no more files can be open.
  init() throws(FileFailure) {
    var ends: [Int32] = [0, 0]
    guard linux_pipe(&ends) else {
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

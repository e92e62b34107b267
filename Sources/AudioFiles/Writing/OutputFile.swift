import Glibc

/// A destination of an output: a new file, or an existing pipe or device.
struct OutputFile: ~Copyable {
  private var draft: DraftFile?
  private let stream: FileDescriptor?
  /// The descriptor to write to.
  let descriptor: Int32

  /// Opens the destination `path`. Without `overwrite`, an existing file is refused; pipes and
  /// devices are always accepted.
  init(
    _ path: String, overwrite: Bool, _ shouldStopWaiting: () -> Bool
  ) throws(FileFailure) {
    if let found = FileStatus(of: path), !found.isRegular, !found.isFolder {
      let opened = try Self.open(path, shouldStopWaiting)
      descriptor = opened.number
      stream = consume opened
      draft = nil
    } else {
      let made = try DraftFile(for: path, overwrite: overwrite)
      descriptor = made.descriptor.number
      draft = consume made
      stream = nil
    }
  }

  /// Whether the destination is a seekable file, and not a pipe or device.
  var isRegular: Bool { stream == nil }

  consuming func takeDraft() -> DraftFile? { draft.take() }

  /// Opens a pipe or a device. Waits at most 3 s for a reader of a pipe, and stops waiting if
  /// `shouldStopWaiting` returns true.
  private static func open(
    _ path: String, _ shouldStopWaiting: () -> Bool
  ) throws(FileFailure) -> FileDescriptor {
    var attempts = 0
    while true {
      do throws(SystemError) {
        let opened = try FileDescriptor(opening: path, O_WRONLY | O_NONBLOCK | O_NOCTTY)
        _ = fcntl(opened.number, F_SETFL, fcntl(opened.number, F_GETFL) & ~O_NONBLOCK)
        return opened
      } catch {
        attempts += 1
        guard error.number == ENXIO, attempts < 60, !shouldStopWaiting() else {
          throw .creating(path, error)
        }
        usleep(50_000)
      }
    }
  }
}

import Glibc

/// Where an output goes: a file that is to be, or a pipe or a device that is there already.
struct OutputFile: ~Copyable {
  private var draft: DraftFile?
  private let stream: FileDescriptor?
  /// What it is written through.
  let descriptor: Int32

  /// What `path` names. Without `overwrite`, a file of that name is refused; pipes and devices may
  /// always be written to.
  init(_ path: String, overwrite: Bool) throws(FileFailure) {
    if let found = FileStatus(of: path), !found.isRegular, !found.isFolder {
      let opened = try Self.open(path)
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

  /// Whether it is a file one can go back in, and no pipe or device.
  var isRegular: Bool { stream == nil }

  consuming func takeDraft() -> DraftFile? { draft.take() }

  /// Whether a signal that ends the program waits to be heard.
  private static var isEndWanted: Bool {
    var set = sigset_t()
    guard sigpending(&set) == 0 else { return false }
    return [SIGINT, SIGTERM, SIGHUP].contains { sigismember(&set, $0) == 1 }
  }

  /// Opens a pipe or a device. A pipe that nobody reads is waited for a little, not for ever, and
  /// no longer than somebody wants.
  private static func open(_ path: String) throws(FileFailure) -> FileDescriptor {
    var attempts = 0
    while true {
      do throws(SystemError) {
        let opened = try FileDescriptor(opening: path, O_WRONLY | O_NONBLOCK | O_NOCTTY)
        _ = fcntl(opened.number, F_SETFL, fcntl(opened.number, F_GETFL) & ~O_NONBLOCK)
        return opened
      } catch {
        attempts += 1
        guard error.number == ENXIO, attempts < 60, !isEndWanted else {
          throw .creating(path, error)
        }
        usleep(50_000)
      }
    }
  }
}

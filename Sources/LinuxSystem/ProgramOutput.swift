import CLinuxFiles
import Glibc

/// The result of running another program for its output. Any thread but the audio thread.
public enum ProgramOutput: Equatable, Sendable {
  /// The program ended with status 0 and printed this.
  case text(String)
  /// The program is not installed, or ended with an error.
  case failed
  /// The program did not end in time and was killed.
  case timedOut

  /// Runs the program `words[0]` for at most `timeoutMilliseconds`, and keeps the first 64 KiB of
  /// its output.
  public static func run(_ words: [String], timeoutMilliseconds: Int) -> ProgramOutput {
    var ends: [Int32] = [-1, -1]
    guard linux_pipe(&ends, true) else { return .failed }
    defer { close(ends[0]) }
    var process: pid_t = 0
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    let result = ProcessStart.start(
      words.map { Array($0.utf8) }, output: ends[1], errors: nothing, &process)
    close(ends[1])
    if nothing >= 0 { close(nothing) }
    guard result == 0 else { return .failed }
    let end = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
    let text = text(from: ends[0], until: end)
    var status: Int32 = 0
    // A program that has closed its output may still be running.
    while text != nil, waitpid(process, &status, WNOHANG) == 0 {
      guard ContinuousClock.now < end else { return stop(process) }
      usleep(2000)
    }
    guard let text else { return stop(process) }
    return status == 0 ? .text(text) : .failed
  }

  private static func stop(_ process: pid_t) -> ProgramOutput {
    kill(-process, SIGKILL)
    for _ in 0..<50 {
      guard waitpid(process, nil, WNOHANG) == 0 else { return .timedOut }
      usleep(2000)
    }
    // It is in a system call that does not end.
    ProcessStart.leave(process)
    return .timedOut
  }

  /// Returns the output of the program; nil if it did not end in time.
  private static func text(from descriptor: Int32, until end: ContinuousClock.Instant) -> String? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      guard ContinuousClock.now < end else { return nil }
      var set = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let result = poll(&set, 1, 10)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { return nil }
      if result == 0 { continue }
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      if bytes.count < 1 << 16 { bytes += piece.prefix(count) }
    }
  }
}

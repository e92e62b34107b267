import Glibc

/// What another program prints when it is asked something.
public enum ProgramAnswer: Equatable, Sendable {
  /// It ended well, and printed this.
  case text(String)
  /// It is not installed, or ended with an error.
  case failed
  /// It did not end in time, and was ended.
  case late

  /// Runs the program `words[0]` for at most so long, and keeps the first 64 KiB of what it prints.
  public static func asking(_ words: [String], milliseconds: Int) -> ProgramAnswer {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return .failed }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let reading = FileDescriptor(owning: ends[0])
    var process: pid_t = 0
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    let result = ProcessStart.start(words, output: ends[1], errors: nothing, &process)
    close(ends[1])
    if nothing >= 0 { close(nothing) }
    guard result == 0 else { return .failed }
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    let text = text(from: reading.number, until: end)
    var status: Int32 = 0
    // What has closed its output may still be ending.
    while text != nil, waitpid(process, &status, WNOHANG) == 0 {
      guard ContinuousClock.now < end else { return stop(process) }
      usleep(2000)
    }
    guard let text else { return stop(process) }
    return status == 0 ? .text(text) : .failed
  }

  private static func stop(_ process: pid_t) -> ProgramAnswer {
    kill(-process, SIGKILL)
    // One that does not end even so, in a call of the kernel's, is left to it.
    for _ in 0..<50 where waitpid(process, nil, WNOHANG) == 0 { usleep(2000) }
    return .late
  }

  /// Nil where it did not end in time.
  private static func text(from descriptor: Int32, until end: ContinuousClock.Instant) -> String? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      guard ContinuousClock.now < end else { return nil }
      var set = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let answer = poll(&set, 1, 10)
      if answer < 0, errno == EINTR { continue }
      guard answer >= 0 else { return nil }
      if answer == 0 { continue }
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      if bytes.count < 1 << 16 { bytes += piece.prefix(count) }
    }
  }
}

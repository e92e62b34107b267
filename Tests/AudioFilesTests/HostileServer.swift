import AudioFiles
import Glibc

/// The server of Tests/HostileServer, which ends with this process.
final class HostileServer: Sendable {
  /// The server for all tests.
  static let shared = HostileServer()

  let port: Int
  /// The server's standard input. The server ends when it is closed, at the latest by the end of
  /// this process.
  private let leash: Int32

  private init() {
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    pipe(&input)
    pipe(&output)
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    let script = "/\(folder)/HostileServer/serve"
    var words: [UnsafeMutablePointer<CChar>?] = [
      strdup("python3"), strdup(script), strdup("--leash"), nil,
    ]
    var child: pid_t = 0
    posix_spawnp(&child, "python3", &actions, nil, &words, environ)
    for word in words { free(word) }
    posix_spawn_file_actions_destroy(&actions)
    close(input[0])
    close(output[1])
    leash = input[1]
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output[0], &byte, 1) == 1, byte != 10 { line.append(byte) }
    close(output[0])
    port = Int(String(decoding: line.dropFirst(5), as: UTF8.self)) ?? 0
  }

  deinit {
    close(leash)
  }

  /// Returns the address of a path such as `stall/x.wav?at=1000`.
  func address(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

  /// Opens the file at this path, with short pauses by default.
  func open(
    _ path: String, _ timeouts: RemoteFileTimeouts = .short,
    _ bounds: RemoteFileBounds = RemoteFileBounds()
  ) throws(FileFailure) -> RemoteFile {
    try RemoteFile(address: address(path), timeouts: timeouts, bounds: bounds)
  }

  /// Returns the number of body bytes sent so far for `path`.
  func sentByteCount(_ path: String) throws -> Int {
    let escapes: [Character: String] = ["?": "%3F", "&": "%26"]
    let file = try open("_sent?path=/\(path.map { escapes[$0] ?? String($0) }.joined())")
    return Int(String(decoding: try contents(file), as: UTF8.self)) ?? -1
  }
}

extension RemoteFileTimeouts {
  /// The timeouts for a server on this machine, even if the machine is busy: a longer wait is a
  /// hang.
  static var short: RemoteFileTimeouts {
    var timeouts = RemoteFileTimeouts()
    timeouts.firstRetryDelay = 0.005
    timeouts.connectTimeout = 120
    timeouts.responseTimeout = 120
    timeouts.openTimeout = 120
    timeouts.stallTimeout = 120
    timeouts.lowSpeedTime = 120
    return timeouts
  }

  /// The timeouts for a server that stops sending without closing the connection. The transfer is
  /// resumed after a short time, with enough attempts for a busy machine to receive a byte.
  static var restless: RemoteFileTimeouts {
    var timeouts = short
    timeouts.stallTimeout = 0.4
    timeouts.maximumRetryCount = 100
    return timeouts
  }
}

/// Returns byte `offset` of the server's pattern.
func patternByte(_ offset: Int) -> UInt8 {
  let inBlock = offset % 65536
  return UInt8(truncatingIfNeeded: inBlock * 167 + (inBlock >> 8) * 13 + offset / 65536 * 7)
}

/// Returns whether `bytes` are the server's pattern from `offset` on. A Bool, because `#expect`
/// would print a long list of differences.
func isPattern(_ bytes: [UInt8], from offset: Int = 0) -> Bool {
  bytes.withUnsafeBufferPointer { bytes in
    var index = 0
    while index < bytes.count {
      if bytes[index] != patternByte(offset + index) { return false }
      index += 1
    }
    return true
  }
}

/// Returns whether `file` is the whole pattern of `count` bytes.
func isWhole(_ file: RemoteFile, count: Int = 300_000) throws(FileFailure) -> Bool {
  let bytes = try contents(file)
  return bytes.count == count && isPattern(bytes)
}

/// Returns whether `count` bytes from `offset` on are the server's pattern.
func hasPattern(
  _ file: RemoteFile, from offset: Int = 0, count: Int
) throws(FileFailure) -> Bool {
  let bytes = try contents(file, from: offset, count: count)
  return bytes.count == count && isPattern(bytes, from: offset)
}

/// Returns at most `count` bytes of `file` from `offset` on.
func contents(
  _ file: RemoteFile, from offset: Int = 0, count: Int = .max
) throws(FileFailure) -> [UInt8] {
  var bytes: [UInt8] = []
  _ = try read(file, from: offset, count: count, into: &bytes)
  return bytes
}

/// Reads at most `count` bytes into `bytes`, which keeps the bytes read before a failure.
func read(
  _ file: RemoteFile, from offset: Int, count: Int, into bytes: inout [UInt8]
) throws(FileFailure) -> Int {
  let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 10_007, alignment: 16)
  defer { room.deallocate() }
  while bytes.count < count {
    let part = UnsafeMutableRawBufferPointer(
      rebasing: room[..<min(room.count, count - bytes.count)])
    let got = try file.read(into: part, at: offset + bytes.count)
    if got == 0 { break }
    bytes += part[..<got]
  }
  return bytes.count
}

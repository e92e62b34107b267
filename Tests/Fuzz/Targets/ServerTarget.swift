import AudioBasics
import AudioFiles
import Glibc
import RealtimeAudio

extension FuzzTarget {
  /// A complete response of a web server, through libcurl, up to the decoder.
  static let server = FuzzTarget("server", maximumLength: 16384) { input in
    let kind = input.choose()
    AnsweringServer.shared.give(input.bytes)
    var timeouts = RemoteFileTimeouts()
    timeouts.connectTimeout = 0.5
    timeouts.responseTimeout = 0.05
    timeouts.openTimeout = 0.1
    timeouts.stallTimeout = 0.02
    timeouts.lowSpeedTime = 0.04
    timeouts.firstRetryDelay = 0.0001
    timeouts.maximumRetryCount = 1
    var bounds = RemoteFileBounds()
    bounds.firstRequest = 4096
    let name = input.choose(from: ["x", "x.mp3", "x.wav", "x.m3u", "x.ogg"])
    guard
      let file = try? RemoteFile(
        address: "http://a.example/\(name)", timeouts: timeouts, bounds: bounds)
    else { return }
    if name == "x.m3u" {
      _ = try? Playlist.entries(of: file)
      return
    }
    _ = (file.byteCount, file.announcedTitle, file.announcedBitRate, file.contentType)
    if kind % 4 == 0 {
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { room in
        for place in [0, 1000, 4096, 1 << 40, file.byteCount ?? 0, .max] {
          _ = try? file.read(into: room, at: place)
        }
      }
    }
    guard let decoder = try? Decoding.decoder(for: file), decoder.channelCount <= 64 else { return }
    var buffer = SampleBuffer(frameCount: 1024, channelCount: decoder.channelCount)
    _ = try? decoder.read(into: &buffer, at: 0, frames: 1024)
    try? decoder.seek(toFrame: (decoder.frameCount ?? 2000) / 2)
    _ = try? decoder.read(into: &buffer, at: 0, frames: 1024)
  }
}

/// A server that sends the same bytes for every request, whatever the host. It is the proxy of this
/// process, which therefore never connects to another machine.
private final class AnsweringServer: Sendable {
  static let shared = AnsweringServer()

  private struct Answer {
    var bytes: [UInt8] = []
    /// The number of remaining responses. It is limited, because a station is requested again after
    /// each response.
    var times = 0
  }

  private let answer = MutexBox(Answer())

  func give(_ bytes: [UInt8]) { answer.withLock { $0 = Answer(bytes: bytes, times: 6) } }

  private var next: [UInt8] {
    answer.withLock { answer in
      answer.times -= 1
      return answer.times >= 0 ? answer.bytes : []
    }
  }

  private init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isOpen = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isOpen else { finding("there is no port to listen at") }
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
      setenv(name, "http://127.0.0.1:\(address.sin_port.bigEndian)", 1)
    }
    for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
    signal(SIGPIPE, SIG_IGN)
    var thread = pthread_t()
    let start = UnsafeMutableRawPointer(bitPattern: Int(listener))
    guard pthread_create(&thread, nil, { AnsweringServer.serve($0) }, start) == 0 else {
      finding("there is no thread for the server")
    }
  }

  private static func serve(_ listener: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let listener = Int32(truncatingIfNeeded: Int(bitPattern: listener))
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { continue }
      var request = [UInt8](repeating: 0, count: 4096)
      _ = recv(connection, &request, request.count, 0)
      let bytes = shared.next
      _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      shutdown(connection, Int32(SHUT_WR))
      close(connection)
    }
  }
}

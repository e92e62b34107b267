import Glibc
import RealtimeAudio
import Testing

@testable import AudioFiles

@Suite struct RemoteSeekingTests {
  let server = HostileServer.shared

  @Test func `only the bytes that are read, and some read-ahead, are fetched`() throws {
    let path = "ok/x.wav?size=40000000&id=little"
    let file = try server.open(path)
    let offsets = [0, 39_000_000, 20_000_000, 100, 39_999_990]
    for offset in offsets {
      let count = min(5000, 40_000_000 - offset)
      #expect(try hasPattern(file, from: offset, count: count))
    }
    #expect(try contents(file, from: 40_000_000).isEmpty)
    #expect(try server.sentByteCount(path) < 6_000_000)
  }

  @Test func `a short distance forwards is downloaded without a new request`() throws {
    var bounds = RemoteFileBounds()
    bounds.readAhead = 10_000
    let path = "ok/x.wav?size=20000000&id=short"
    let file = try server.open(path, .short, bounds)
    for step in 0..<40 {
      let offset = step * 50_000
      #expect(try hasPattern(file, from: offset, count: 10))
    }
    #expect(try server.sentByteCount(path) < 4_000_000)
  }

  @Test func `bytes that were read before are read again without the server`() throws {
    let path = "ok/x.wav?id=again"
    let file = try server.open(path)
    _ = try contents(file)
    let sent = try server.sentByteCount(path)
    for offset in [250_000, 3, 100_000] {
      #expect(try hasPattern(file, from: offset, count: 99))
      #expect(file.readyByteCount(at: offset) == 300_000 - offset)
    }
    #expect(try server.sentByteCount(path) == sent)
  }

  @Test func `a file without range requests is not seekable until it is complete`() throws {
    let path = "no-range/x.wav?size=4000000&id=onward"
    let file = try server.open(path)
    #expect(!file.isSeekable)
    #expect(try hasPattern(file, from: 2_000_000, count: 9))
    #expect(try hasPattern(file, from: 5, count: 9))
    // On a busy machine the whole file may have arrived in the meantime.
    #expect(try !file.isSeekable || server.sentByteCount(path) >= 4_000_000)
    #expect(try contents(file, from: 3_999_000).count == 1000)
    #expect(file.isSeekable)
  }

  @Test func `a server that stops to support ranges is read sequentially`() throws {
    let path = "forgets-ranges/x.wav?size=4000000&id=through"
    let file = try server.open(path)
    #expect(file.isSeekable)
    #expect(try hasPattern(file, from: 3_000_000, count: 9))
    #expect(try !file.isSeekable || server.sentByteCount(path) >= 4_000_000)
    #expect(try server.sentByteCount(path) < 6_000_000)
  }

  @Test func `a full cache discards the bytes before the reader`() throws {
    var bounds = RemoteFileBounds()
    bounds.cache = 2 << 20
    let file = try server.open("ok/x.wav?size=4000000&id=full", .short, bounds)
    #expect(try isWhole(file, count: 4_000_000))
    #expect(file.readyByteCount(at: 0) == 0)
    #expect(try hasPattern(file, count: 1_000_000))
  }

  @Test(arguments: [Int.min, -1, 0, 1, .max])
  func `a file can be read with any bounds`(number: Int) throws {
    var bounds = RemoteFileBounds()
    bounds.readAhead = number
    bounds.firstRequest = number
    bounds.gap = number
    bounds.cache = number
    bounds.window = number
    bounds.receiveBuffer = number
    let file = try server.open("ok/x.wav?size=1000000&id=strange\(number)", .short, bounds)
    #expect(try hasPattern(file, from: 0, count: 100_000))
    file.readAheadByteCount = number
    #expect(try hasPattern(file, from: 900_000, count: 100_000))
    #expect(try hasPattern(file, from: 400_000, count: 100_000))
    for place in [1_000_000, 1 << 53, .max] {
      #expect(try contents(file, from: place).isEmpty)
    }
    let endless = try server.open("no-length/x.wav?size=300000&id=strange\(number)", .short, bounds)
    #expect(try contents(endless, from: .max).isEmpty)
    #expect(try isWhole(endless, count: 300_000))
  }

  @Test func `a waiting read can be interrupted, and reading continues afterwards`() throws {
    let file = try server.open("stall-once/x.wav?id=interrupt", RemoteFileTimeouts())
    #expect(try hasPattern(file, count: 100_000))
    let reader = Reader(file, at: 100_000)
    file.interrupt()
    #expect(reader.wait() == 0)
    #expect(file.isInterrupted)
    #expect(try contents(file).isEmpty)
    file.proceed()
    #expect(try contents(file, count: 100_000).count == 100_000)
  }

  @Test(arguments: ["stall", "no-range", "drip", "station-endless", "drop-always"])
  func `a file is closed whatever its server does`(fault: String) throws {
    for _ in 0..<3 {
      weak var shared: MutexBox<RemoteState>?
      do {
        let file = try server.open("\(fault)/x.wav?id=close", RemoteFileTimeouts())
        shared = file.shared
        withExtendedLifetime(file) { #expect(shared != nil) }
      }
      #expect(shared == nil, "The network thread has not ended.")
    }
  }
}

/// A thread that reads once.
private final class Reader: @unchecked Sendable {
  // Unchecked because `count` is read after the thread has ended.
  private var count = -1
  private let file: RemoteFile
  private let offset: Int
  private var thread = pthread_t()

  init(_ file: RemoteFile, at offset: Int) {
    self.file = file
    self.offset = offset
    pthread_create(
      &thread, nil,
      { reader in
        guard let reader else { return nil }
        Unmanaged<Reader>.fromOpaque(reader).takeRetainedValue().read()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
  }

  /// Waits for the thread and returns the result of the read.
  func wait() -> Int {
    pthread_join(thread, nil)
    return count
  }

  private func read() {
    withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { bytes in
      count = (try? file.read(into: bytes, at: offset)) ?? -2
    }
  }
}

import Testing

@testable import AudioDevices

/// Tests of the count of frames that a server's input drops without an xrun: a ring of 8,192 frames
/// at 48 kHz, read in periods of 1,024.
@Suite struct DroppedFrameEstimatorTests {
  /// A server that delivers 1,024 frames at a time, and drops those that the ring does not hold.
  private struct Server {
    var estimator = DroppedFrameEstimator(capacity: 8192, sampleRate: 48000)
    var time = 1_000_000_000
    var unread = 0
    var dropped = 0
    var reported = 0

    /// Lets `quanta` quanta pass without a read.
    mutating func pass(_ quanta: Int, isKept: Bool = true) {
      time += quanta * 1024 * 1_000_000_000 / 48000
      let arrived = isKept ? quanta * 1024 : 0
      let fitting = min(arrived, 8192 - unread)
      unread += fitting
      dropped += quanta * 1024 - fitting
    }

    /// Reads until less than a period is left.
    mutating func read() {
      while unread >= 1024 {
        reported += estimator.note(captured: unread, taking: 1024, at: UInt64(time))
        unread -= 1024
      }
    }
  }

  @Test(arguments: [9, 14, 47, 1000])
  func `a pause longer than the ring reports what the ring did not hold`(quanta: Int) {
    var server = Server()
    for _ in 0..<5 {
      server.pass(1)
      server.read()
    }
    server.pass(quanta)
    server.read()
    #expect(server.dropped == (quanta - 8) * 1024)
    #expect(abs(server.reported - server.dropped) <= 1)
    // It is reported once.
    for _ in 0..<50 {
      server.pass(1)
      server.read()
    }
    #expect(abs(server.reported - server.dropped) <= 1)
  }

  @Test(arguments: [1, 3, 8])
  func `a pause that the ring bridges drops nothing`(quanta: Int) {
    var server = Server()
    for _ in 0..<20 {
      server.pass(quanta)
      server.read()
    }
    #expect(server.reported == 0 && server.dropped == 0)
  }

  @Test func `a server that stands still captures nothing in that time`() {
    var server = Server()
    server.pass(1)
    server.read()
    server.pass(40, isKept: false)
    server.pass(1)
    server.read()
    #expect(abs(server.reported - 40 * 1024) <= 1)
  }

  @Test func `the time before the first frames and before a restart is no pause`() {
    var server = Server()
    server.time += 5_000_000_000
    server.pass(1)
    server.read()
    server.estimator.restart()
    server.time += 5_000_000_000
    server.pass(1)
    server.read()
    #expect(server.reported == 0)
  }

  @Test func `a few frames more or less are the server's timing`() {
    var server = Server()
    server.pass(1)
    server.read()
    server.pass(9)
    server.dropped = 0
    // All of it arrives after all, a little late.
    server.unread = 9 * 1024
    server.time += 5_000_000
    server.read()
    #expect(server.reported == 0)
  }

  @Test func `a server that keeps unread frames drops none of them`() {
    var server = Server()
    server.estimator = DroppedFrameEstimator(
      capacity: 8192, sampleRate: 48000, catchUpSeconds: 0.5)
    server.pass(1)
    server.read()
    server.pass(100)
    server.read()
    // What the ring did not hold follows, a quantum each millisecond.
    for _ in 0..<92 {
      server.time += 1_000_000
      server.unread += 1024 + 48
      server.read()
    }
    for _ in 0..<60 {
      server.pass(1)
      server.read()
    }
    #expect(server.reported == 0)
  }

  @Test func `a server that moves a stream captures nothing in that time`() {
    var server = Server()
    server.estimator = DroppedFrameEstimator(
      capacity: 8192, sampleRate: 48000, catchUpSeconds: 0.5)
    server.pass(1)
    server.read()
    server.pass(94, isKept: false)
    for _ in 0..<60 {
      server.pass(1)
      server.read()
    }
    #expect(abs(server.reported - 94 * 1024) <= 1)
  }
}

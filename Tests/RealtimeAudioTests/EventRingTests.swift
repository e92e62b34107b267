import Glibc
import Testing

@testable import RealtimeAudio

@Suite struct EventRingTests {
  @Test func `events written on one thread are read on another in order`() throws {
    let writer = EventWriter()
    var reader = writer.makeReader()
    let thread = try RealtimeThread(
      name: "events", priority: .normal, Telling(writer: consume writer))
    var frame = 0
    while frame < Telling.count {
      guard let event = reader.read() else {
        sched_yield()
        continue
      }
      #expect(event == TimelineEvent(kind: .captureXrun, frame: frame, frames: frame % 7))
      frame += 1
    }
    _ = thread.join()
    #expect(reader.read() == nil)
  }

  @Test func `a full ring refuses an event, and takes the next once one was read`() {
    var writer = EventWriter()
    var reader = writer.makeReader()
    let event = TimelineEvent(kind: .deviceLost, frame: 1, frames: 2)
    for _ in 0..<256 {
      let isTaken = writer.write(event)
      #expect(isTaken)
    }
    let isTakenWhenFull = writer.write(event)
    #expect(!isTakenWhenFull)
    #expect(reader.read() == event)
    let isTakenAfterwards = writer.write(event)
    #expect(isTakenAfterwards)
  }
}

private struct Telling: RealtimeWork, ~Copyable, Sendable {
  static let count = 10_000
  var writer: EventWriter

  mutating func run() {
    var frame = 0
    while frame < Self.count {
      if writer.write(TimelineEvent(kind: .captureXrun, frame: frame, frames: frame % 7)) {
        frame += 1
      } else {
        sched_yield()
      }
    }
  }
}

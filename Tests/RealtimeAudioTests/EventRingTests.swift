import Glibc
import Testing

@testable import RealtimeAudio

@Suite struct EventRingTests {
  @Test func `events written on one thread are read on another in order`() throws {
    let writer = EventWriter<Gap>()
    var reader = writer.makeReader()
    let thread = try RealtimeThread(
      name: "events", priority: .normal, Telling(writer: consume writer))
    var frame = 0
    while frame < Telling.count {
      guard let event = reader.read() else {
        sched_yield()
        continue
      }
      #expect(event == Gap(frame: frame, frames: frame % 7))
      frame += 1
    }
    _ = thread.join()
    #expect(reader.read() == nil)
  }

  @Test func `a full ring refuses events until one is read`() {
    var writer = EventWriter<Gap>()
    var reader = writer.makeReader()
    let event = Gap(frame: 1, frames: 2)
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

  @Test func `events of any size are read as they were written`() {
    func expectInOrder<Event: BitwiseCopyable & Sendable & Equatable>(_ make: (UInt8) -> Event) {
      var writer = EventWriter<Event>()
      var reader = writer.makeReader()
      for round in 0..<UInt8(3) {
        for number in 0..<UInt8(200) {
          let isTaken = writer.write(make(number &* 3 &+ round))
          #expect(isTaken)
        }
        for number in 0..<UInt8(200) { #expect(reader.read() == make(number &* 3 &+ round)) }
      }
    }
    expectInOrder { $0 }
    expectInOrder { UInt16($0) * 257 }
    expectInOrder { Gap(frame: Int($0), frames: -Int($0)) }
    expectInOrder { SIMD8<Float>(repeating: Float($0)) }
  }
}

private struct Gap: BitwiseCopyable, Sendable, Equatable {
  var frame: Int
  var frames: Int
}

private struct Telling: RealtimeWork, ~Copyable, Sendable {
  static let count = 10_000
  var writer: EventWriter<Gap>

  mutating func run() {
    var frame = 0
    while frame < Self.count {
      if writer.write(Gap(frame: frame, frames: frame % 7)) {
        frame += 1
      } else {
        sched_yield()
      }
    }
  }
}

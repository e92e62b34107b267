import AudioBasics
import Glibc
import Testing

@testable import RealtimeAudio

@Suite struct SampleRingTests {
  @Test func `a ring for which there is no memory causes a message`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]
    ) {
      _ = SampleWriter(frameCount: .max, channelCount: 1, isSixteenBit: true)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.hasSuffix("There is no memory for a buffer of that size.\n"), "\(text)")
  }

  @Test(arguments: [(1, 1), (7, 2), (64, 2), (1000, 3)])
  func `frames written on one thread are read on another in order`(
    capacity: Int, channelCount: Int
  ) throws {
    let frameCount = capacity == 1 ? 2000 : 50_000
    let writer = SampleWriter(frameCount: capacity, channelCount: channelCount)
    var reader = writer.makeReader()
    let writing = Counting(consume writer, channelCount: channelCount, frameCount: frameCount)
    let thread = try RealtimeThread(name: "writer", priority: .normal, writing)

    var buffer = SampleBuffer(frameCount: 97, channelCount: channelCount)
    var random = Chunks(seed: 2)
    var wrong = 0
    while true {
      // The end is checked first: after it, no further frames are queued.
      let isLast = reader.isFinished
      let start = reader.frameCount
      let count = reader.read(into: &buffer, frames: random.next(upTo: 97))
      for index in 0..<count * channelCount
      where buffer[index] != Float(start * channelCount + index) { wrong += 1 }
      if isLast && reader.available == 0 { break }
      if count == 0 { sched_yield() }
    }
    _ = thread.join()
    #expect(wrong == 0)
    #expect(reader.frameCount == frameCount)
  }

  @Test(arguments: [1, 5, 8])
  func `a full ring accepts no frames, and an empty one returns none`(capacity: Int) {
    var writer = SampleWriter(frameCount: capacity, channelCount: 2)
    var reader = writer.makeReader()
    var buffer = SampleBuffer(frameCount: capacity + 3, channelCount: 2)
    #expect(reader.read(into: &buffer, frames: 1) == 0)
    #expect(writer.write(buffer, frames: capacity + 3) == capacity)
    #expect(writer.room == 0)
    #expect(writer.write(buffer, frames: 1) == 0)
    #expect(reader.read(into: &buffer, frames: capacity + 3) == capacity)
    #expect(writer.room == capacity)
  }

  @Test(arguments: [1, 5, 8])
  func `a 16-bit ring returns 16-bit samples exactly and rounds all others`(
    capacity: Int
  ) {
    var writer = SampleWriter(frameCount: capacity, channelCount: 3, isSixteenBit: true)
    var reader = writer.makeReader()
    #expect(reader.isSixteenBit && reader.samples.frameCount == (capacity + 1) / 2)
    var buffer = SampleBuffer(frameCount: capacity, channelCount: 3)
    var number = -32768
    while number <= 32767 {
      let count = min(buffer.sampleCount, 32768 - number)
      for index in 0..<count { buffer[index] = Float(number + index) / 32768 }
      let frames = (count + 2) / 3
      #expect(writer.write(buffer, frames: frames) == frames)
      #expect(reader.read(into: &buffer, frames: frames) == frames)
      let wrong = (0..<count).filter { buffer[$0] != Float(number + $0) / 32768 }
      #expect(wrong.isEmpty)
      number += count
    }
    for (given, kept) in [
      (1.5, 32767.0 / 32768), (-1.5, -1), (0.4 / 32768, 0), (0.6 / 32768, 0x1p-15),
    ] {
      buffer[0] = Float(given)
      #expect(writer.write(buffer, frames: 1) == 1 && reader.read(into: &buffer, frames: 1) == 1)
      #expect(buffer[0] == Float(kept))
    }
  }

  @Test func `16-bit samples are read in place, in two pieces at the ring's end`() {
    var writer = SampleWriter(frameCount: 5, channelCount: 2, isSixteenBit: true)
    var reader = writer.makeReader()
    var buffer = SampleBuffer(frameCount: 5, channelCount: 2)
    var copy = SampleBuffer(frameCount: 5, channelCount: 2)
    var (written, seen, copied) = (0, [Int16](), [Float]())
    func note(_ integers: Span<Int16>) {
      for index in integers.indices { seen.append(integers[index]) }
    }
    for count in [4, 3, 5, 0, 1] {
      for index in 0..<2 * count { buffer[index] = Float(-10 + 2 * written + index) / 32768 }
      #expect(writer.write(buffer, frames: count) == count)
      written += count
      for _ in 0..<2 {
        let piece = reader.piece(atMost: 100)
        note(reader.integers(of: piece))
        reader.copy(piece, into: &copy)
        for index in 0..<2 * piece.count { copied.append(copy[index]) }
        reader.skip(piece.count)
      }
      #expect(reader.available == 0)
    }
    let wanted = (-10..<16).map { Int16($0) }
    #expect(seen == wanted && copied == wanted.map { Float($0) / 32768 })
  }

  @Test func `part of a buffer is written and read at the requested offset`() {
    var writer = SampleWriter(frameCount: 8, channelCount: 1)
    var reader = writer.makeReader()
    var source = SampleBuffer(frameCount: 4, channelCount: 1)
    for index in 0..<4 { source[index] = Float(index) }
    var target = SampleBuffer(frameCount: 4, channelCount: 1)
    #expect(writer.write(source, from: 1, frames: 2) == 2)
    #expect(reader.read(into: &target, at: 2, frames: 2) == 2)
    #expect((0..<4).map { target[$0] } == [0, 0, 1, 2])
  }

  @Test func `frames are read in place, in two pieces at the ring's end`() {
    var writer = SampleWriter(frameCount: 8, channelCount: 1)
    var reader = writer.makeReader()
    var buffer = SampleBuffer(frameCount: 8, channelCount: 1)
    var (written, seen) = (0, [Float]())
    for count in [6, 5, 8, 0, 3] {
      for index in 0..<count { buffer[index] = Float(written + index) }
      #expect(writer.write(buffer, frames: count) == count)
      written += count
      for _ in 0..<3 {
        let piece = reader.piece(atMost: 100)
        for index in piece { seen.append(reader.samples[index]) }
        // Frames that were not released are not overwritten.
        #expect(writer.room == 8 - reader.available)
        reader.skip(piece.count)
      }
      #expect(reader.available == 0 && writer.room == 8)
    }
    #expect(seen == (0..<22).map { Float($0) })
  }

  @Test func `the last frames can be read after the writer is released`() {
    var reader = Self.abandonedReader()
    var buffer = SampleBuffer(frameCount: 4, channelCount: 1)
    let isFinished = reader.isFinished
    #expect(isFinished)
    #expect(reader.read(into: &buffer, frames: 4) == 3)
    #expect(buffer[0] == 0.5)
  }

  private static func abandonedReader() -> SampleReader {
    var writer = SampleWriter(frameCount: 4, channelCount: 1)
    let reader = writer.makeReader()
    var buffer = SampleBuffer(frameCount: 3, channelCount: 1)
    for index in 0..<3 { buffer[index] = 0.5 }
    _ = writer.write(buffer, frames: 3)
    writer.finish()
    return reader
  }
}

/// Work that writes samples with consecutive numbers, in chunks of any size.
private struct Counting: RealtimeWork, ~Copyable, Sendable {
  var writer: SampleWriter
  let channelCount: Int
  let frameCount: Int

  init(_ writer: consuming SampleWriter, channelCount: Int, frameCount: Int) {
    self.writer = writer
    self.channelCount = channelCount
    self.frameCount = frameCount
  }

  mutating func run() {
    var buffer = SampleBuffer(frameCount: 113, channelCount: channelCount)
    var random = Chunks(seed: 1)
    while writer.frameCount < frameCount {
      let chunk = min(random.next(upTo: 113), frameCount - writer.frameCount)
      let start = writer.frameCount * channelCount
      for index in 0..<chunk * channelCount { buffer[index] = Float(start + index) }
      var done = 0
      while done < chunk {
        let count = writer.write(buffer, from: done, frames: chunk - done)
        done += count
        if count == 0 { sched_yield() }
      }
    }
    writer.finish()
  }
}

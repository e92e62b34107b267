import AudioBasics
import Glibc
import TestSources
import Testing

@testable import AudioFiles

/// Tests that buffered reads return the same bytes as unbuffered reads.
@Suite struct BufferedBytesTests {
  private static let contents = {
    var random = SplitMix64(seed: 1)
    return (0..<100_003).map { _ in UInt8.random(in: 0...255, using: &random) }
  }()
  /// Byte counts near the sizes at which reads bypass the buffer, the buffer is full, or the source
  /// returns less than requested.
  private static let counts = [0, 1, 7, 997, 4095, 4096, 4097, 5000, 16383, 16384, 16385, 40000]

  private func contents(at place: Int, _ count: Int) -> ArraySlice<UInt8> {
    Self.contents.dropFirst(place).prefix(count)
  }

  /// Returns whether both hold the same bytes. In a debug build `==` takes a call for each of them.
  private func isEqual(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
    first.withUnsafeBytes { first in
      second.withUnsafeBytes { second in
        guard first.count == second.count else { return false }
        guard let left = first.baseAddress, let right = second.baseAddress else { return true }
        return memcmp(left, right, first.count) == 0
      }
    }
  }

  /// Reads the next `count` bytes, or if not `isWhole` the bytes available at once.
  private func read(
    _ count: Int, isWhole: Bool, from bytes: BufferedBytes
  ) throws -> ArraySlice<UInt8> {
    var target = [UInt8](repeating: 0xAA, count: count)
    let done = try target.withUnsafeMutableBytes { try bytes.read(into: $0, isWhole: isWhole) }
    let rest = [UInt8](repeating: 0xAA, count: count - done)
    #expect(isEqual(target[done...], rest[...]))
    return target[..<done]
  }

  /// Reads and peeks at many positions. `move` returns the next position for the current one.
  private func compare(
    _ source: MemorySource, seed: UInt64, move: (Int, inout SplitMix64) -> Int
  ) throws {
    var random = SplitMix64(seed: seed)
    let bytes = BufferedBytes(source)
    for _ in 0..<400 {
      let place = move(bytes.position, &random)
      bytes.position = place
      let count = Self.counts.randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let few = min(count, 16384)
        #expect(try isEqual(Array(bytes.peek(few))[...], contents(at: place, few)))
        #expect(bytes.position == place)
      case 1:
        let some = try read(count, isWhole: false, from: bytes)
        #expect(isEqual(some, contents(at: place, some.count)))
        #expect(!some.isEmpty || contents(at: place, count).isEmpty)
        #expect(bytes.position == place + some.count)
      default:
        let all = try read(count, isWhole: true, from: bytes)
        #expect(isEqual(all, contents(at: place, count)))
        #expect(bytes.position == place + all.count)
      }
    }
  }

  @Test(arguments: [1000, 4096, 5001, .max])
  func `short and long reads in any order return the bytes of the source`(pieceByteCount: Int)
    throws
  {
    for seed in 1...4 as ClosedRange<UInt64> {
      let source = MemorySource(Self.contents, pieceByteCount: pieceByteCount)
      try compare(source, seed: seed) { place, random in
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Int.random(in: 0...Self.contents.count + 100, using: &random)
        // Nearby positions, at which the buffered range may begin or end.
        case 1: max(0, place + Int.random(in: -20000...20000, using: &random))
        default: place
        }
      }
    }
  }

  @Test(arguments: [1000, 4096, 5001, .max])
  func `short and long reads forwards return the bytes of a source without seeking`(
    pieceByteCount: Int
  ) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let source = MemorySource(
        Self.contents, isSeekable: false, hasLength: seed % 2 == 0, pieceByteCount: pieceByteCount)
      try compare(source, seed: seed) { place, random in
        Bool.random(using: &random) ? place : place + Int.random(in: 0...3000, using: &random)
      }
    }
  }

  @Test func `a long read combines the buffered bytes with a read of the source`() throws {
    let source = MemorySource(Self.contents, pieceByteCount: .max)
    let bytes = BufferedBytes(source)
    _ = try bytes.peek(10)
    #expect(source.readCount == 16384)
    #expect(try read(50000, isWhole: true, from: bytes) == contents(at: 0, 50000))
    #expect(source.readCount == 50000)
    // The buffer is empty now: a short read fills it.
    #expect(try read(10, isWhole: true, from: bytes) == contents(at: 50000, 10))
    #expect(source.readCount == 50000 + 16384)
  }

  @Test(arguments: [1000, 4096, 40_000])
  func `a library receives the bytes before a failure, and the failure is reported once`(count: Int)
    throws
  {
    let source = MemorySource(Self.contents, pieceByteCount: 4000)
    source.fail(behind: 10_000)
    let bytes = BufferedBytes(source)
    var target = [UInt8](repeating: 0, count: count)
    var read: [UInt8] = []
    var done = count
    while done > 0 {
      done = target.withUnsafeMutableBytes {
        bytes.readForCallback($0.baseAddress, $0.count, isWhole: true)
      }
      read += target.prefix(done)
    }
    #expect(read == Array(Self.contents.prefix(12_000)))
    #expect(throws: MemorySource.failure) { try bytes.check() }
    try bytes.check()
  }
}

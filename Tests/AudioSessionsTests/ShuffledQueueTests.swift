import AudioBasics
import AudioSessions
import Testing

/// Tests of a queue with a new random order for each round, controlled while the next round is read
/// ahead.
@Suite struct ShuffledQueueTests {
  private static let lead = 48000 / 50 + 2 * 64
  private static let fileCount = 5

  /// With 20,000 frames a round is longer than the frames read ahead; with 1500 frames several
  /// rounds are shorter.
  @Test(arguments: [20_000, 1500])
  func `a restart or a seek affects the current track, whatever the next round's order`(
    frames: Int
  ) throws {
    let files = try (0..<Self.fileCount).map {
      try CountedFile(frames: frames, first: $0 * 1_000_000)
    }
    let rig = try PlayerRig()
    for file in files { rig.enqueue(file) }
    rig.player.isRepeating = true
    rig.player.isShuffling = true
    rig.player.play()
    for step in 0..<40 {
      _ = rig.run(cycles: 200)
      let target = step % 2 == 0 ? 0 : 5
      if target == 0 { rig.player.skip(by: 0) } else { try rig.player.seek(toFrame: target) }
      let heard = numbers(rig.run(cycles: 40))
      let (before, after) = (heard[Self.lead - 1], heard[Self.lead])
      #expect(after % 1_000_000 == target)
      // At the end of a file the next one is the current one.
      let isAtEnd = before % 1_000_000 == frames - 1
      #expect(isAtEnd || after / 1_000_000 == before / 1_000_000)
    }
  }

  @Test
  func `a step back returns to the previous item of the round that is played`()
    throws
  {
    let files = try (1...Self.fileCount).map {
      try CountedFile(frames: 20_000, first: $0 * 1_000_000)
    }
    let rig = try PlayerRig()
    for file in files { rig.enqueue(file) }
    rig.player.isRepeating = true
    rig.player.isShuffling = true
    rig.player.play()
    for _ in 0..<4 {
      var heard: [Int] = []
      func listen(cycles: Int) {
        let file = (numbers(rig.run(cycles: cycles)).last ?? 0) / 1_000_000
        if heard.last != file { heard.append(file) }
      }
      while rig.player.current?.index != Self.fileCount - 1 || heard.count < 2 {
        listen(cycles: 10)
      }
      listen(cycles: 100)
      rig.player.skip(by: -1)
      #expect(numbers(rig.run(cycles: 40))[Self.lead] / 1_000_000 == heard[heard.count - 2])
      // Continues into the next round.
      _ = rig.run(cycles: 900)
    }
  }

  @Test func `the random orders follow from the seed`() throws {
    let files = try (0..<8).map { try CountedFile(frames: 640, first: $0 * 1_000_000) }
    func order(seed: UInt64) throws -> [String] {
      let rig = try PlayerRig()
      for file in files { rig.enqueue(file) }
      rig.player.seedShuffling(seed)
      rig.player.isRepeating = true
      rig.player.isShuffling = true
      rig.player.play()
      while rig.player.playedTracks.count < 32 { _ = rig.run(cycles: 50) }
      return rig.player.playedTracks.prefix(32).map(\.track.info.name)
    }
    let first = try order(seed: 1)
    #expect(try order(seed: 1) == first)
    #expect(try order(seed: 2) != first)
    #expect(Array(first[8..<16]) != Array(first[..<8]))
  }

  @Test func `a seek does not change the order: each item is played once per round`() throws {
    let files = try (0..<Self.fileCount).map {
      try CountedFile(frames: 20_000, first: $0 * 1_000_000)
    }
    let rig = try PlayerRig()
    for file in files { rig.enqueue(file) }
    rig.player.isRepeating = true
    rig.player.isShuffling = true
    rig.player.play()
    while rig.player.playedTracks.count < 4 * Self.fileCount {
      _ = rig.run(cycles: 200)
      try rig.player.seek(bySeconds: -0.01)
    }
    let turns = rig.player.playedTracks.map(\.track)
    for (number, turn) in turns.enumerated() { #expect(turn.index == number % Self.fileCount) }
    for first in stride(from: 0, to: turns.count, by: Self.fileCount) {
      #expect(Set(turns[first..<first + Self.fileCount].map(\.info.name)).count == Self.fileCount)
    }
  }
}

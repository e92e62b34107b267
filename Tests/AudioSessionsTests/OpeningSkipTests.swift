import AudioFiles
import AudioSessions
import Testing

/// Tests of keys during silence while the next source is being opened.
@Suite struct OpeningSkipTests {
  private let one: CountedFile
  private let slow: CountedFile
  private let three: CountedFile
  private let rig: PlayerRig

  init() throws {
    one = try CountedFile(frames: 2000)
    slow = try CountedFile(frames: 2000, first: 10_000)
    three = try CountedFile(frames: 2000, first: 20_000)
    rig = try PlayerRig()
    rig.opensSlowSources = false
    rig.enqueue(one)
    let path = slow.path
    rig.player.enqueue(
      QueueItem(
        QueueItem.Part(name: "a slow server", takesTime: true) { _ throws(FileFailure) in
          try Decoding.decoder(forPath: path)
        }))
    rig.enqueue(three)
    rig.player.play()
  }

  /// Returns the first frames of the next file that is played.
  private func next() -> [Int] {
    Array(numbers(rig.run(cycles: 40)).drop { $0 == -1 }.prefix(2000))
  }

  @Test func `a skip passes over the source that is being opened`() {
    #expect(next() == Array(0..<2000))
    #expect(rig.player.current == nil)
    #expect(rig.player.opening?.index == 1)
    #expect(rig.player.opening?.name == "a slow server")
    #expect(rig.player.state == .waiting)
    // The change applies to the source that never opened, and to no other.
    rig.player.toggleReversed()
    rig.player.skip(by: 1)
    #expect(next() == Array(20_000..<22_000))
    #expect(rig.player.opening == nil)
    #expect(rig.player.playedTracks.map(\.track.index) == [0, 2])
  }

  @Test func `a second skip passes over the source that the first has not reached`() {
    #expect(numbers(rig.run(cycles: 5)).contains(100))
    rig.player.skip(by: 1)
    _ = rig.run(cycles: 60)
    #expect(rig.player.opening?.index == 1)
    rig.player.skip(by: 1)
    #expect(next() == Array(20_000..<22_000))
  }

  @Test func `a skip back returns to the source before the one that is being opened`() {
    #expect(next() == Array(0..<2000))
    rig.player.skipBack()
    #expect(next() == Array(0..<2000))
    rig.opensSlowSources = true
    #expect(next() == Array(10_000..<12_000))
  }

  @Test func `the waiting event names the source that is opened, not the one that ended`() {
    _ = rig.run(cycles: 60)
    let waiting = rig.events.filter { if case .waiting = $0.kind { true } else { false } }
    #expect(waiting.map(\.source) == ["a slow server"])
    #expect(waiting.map(\.index) == [1])
    rig.player.skip(by: 2)
    _ = rig.run(cycles: 60)
    #expect(rig.isFinished)
  }
}

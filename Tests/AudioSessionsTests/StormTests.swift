import Synchronization
import Testing

@testable import AudioSessions

/// Commands that come faster than they can be carried out.
@Suite struct StormTests {
  /// Asks for the next thing whenever one is carried out.
  private final class Storm: Sendable {
    let carriedOut = Atomic(0)

    func strike(_ feeder: QueueFeeder) {
      feeder.ask(
        .work { [self] _, _ in
          let count = carriedOut.add(1, ordering: .relaxed).newValue
          if count < 100_000 { strike(feeder) }
          return false
        })
    }
  }

  @Test func `a turn of the disk's thread ends, and sound goes on, however much is asked`() throws {
    let rig = PlayerRig()
    rig.enqueue(try CountedFile(frames: 96000))
    rig.player.play()
    _ = rig.hear(cycles: 20)
    let storm = Storm()
    storm.strike(rig.player.feeder)
    rig.step()
    #expect(storm.carriedOut.load(ordering: .relaxed) <= 128)
    // A second and a half, more than was queued before.
    let heard = numbers(rig.hear(cycles: 1125))
    #expect(difference(heard, 20 * 64..<20 * 64 + 1125 * 64) == nil)
    #expect(storm.carriedOut.load(ordering: .relaxed) >= 1125)
  }

  @Test func `an end is heard between two commands`() throws {
    let rig = PlayerRig()
    rig.enqueue(try CountedFile(frames: 96000))
    rig.player.play()
    _ = rig.hear(cycles: 20)
    let feeder = rig.player.feeder
    let storm = Storm()
    feeder.ask(
      .work { _, _ in
        feeder.conclude()
        return false
      })
    storm.strike(feeder)
    rig.step()
    #expect(storm.carriedOut.load(ordering: .relaxed) == 0)
  }
}

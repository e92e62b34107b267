import AudioFiles
import Testing

@testable import AudioSessions

/// Tests of the resources that a player releases: queues after a reset, and decoders played long
/// ago.
struct ForgottenQueueTests {
  private static let lead = 48000 / 50 + 2 * 64

  private func looping(_ file: CountedFile) throws -> PlayerRig {
    let rig = try PlayerRig(endsWithQueue: false)
    rig.player.isRepeating = true
    rig.enqueue(file)
    rig.player.play()
    _ = rig.run(cycles: 10)
    #expect(rig.player.current != nil)
    return rig
  }

  @Test func `a repeating queue does not start again after a reset`() throws {
    let rig = try looping(try CountedFile(frames: 6400))
    rig.player.reset()
    _ = rig.run(cycles: 400)
    #expect(rig.player.current == nil && rig.player.state == .idle)
    rig.player.skip(by: -1)
    _ = rig.run(cycles: 40)
    #expect(rig.player.current == nil)
    rig.player.stop()
    rig.player.play()
    _ = rig.run(cycles: 40)
    #expect(rig.player.state == .idle)
  }

  @Test func `after a reset only the new item repeats`() throws {
    let rig = try looping(try CountedFile(frames: 6400))
    let second = try CountedFile(frames: 640, first: 100_000)
    rig.player.resetAndEnqueue(path: second.path)
    let heard = numbers(Array(rig.run(cycles: 200)[Self.lead...]))
    #expect(difference(heard.prefix(1280), Array(100_000..<100_640) + (100_000..<100_640)) == nil)
    #expect(heard.allSatisfy { (100_000..<100_640).contains($0) })
    rig.player.skip(by: -5)
    #expect(
      numbers(Array(rig.run(cycles: 100)[Self.lead...])).allSatisfy { $0 >= 100_000 })
  }

  @Test func `the last of several resets before playback takes effect`() throws {
    let rig = try PlayerRig(endsWithQueue: false)
    let files = try (0..<3).map { try CountedFile(frames: 6400, first: $0 * 10_000) }
    for file in files { rig.player.resetAndEnqueue(path: file.path) }
    rig.player.play()
    let heard = numbers(rig.run(cycles: 60)).filter { $0 >= 0 }
    #expect(heard.first.map { $0 >= 20_000 } == true)
  }

  /// A weak reference to a decoder.
  private final class Watched {
    weak var decoder: PlayerEventTests.Ramp?

    init(_ decoder: PlayerEventTests.Ramp) { self.decoder = decoder }
  }

  private struct SentRamp: @unchecked Sendable {
    // @unchecked because the test only checks whether it still exists.
    let ramp: PlayerEventTests.Ramp
  }

  private func enqueueRamps(_ count: Int, on rig: PlayerRig) -> [Watched] {
    let ramps = (0..<count).map { _ in
      SentRamp(ramp: PlayerEventTests.Ramp(frames: 64, supportsSeeking: true))
    }
    for sent in ramps { rig.player.enqueue(sent.ramp) }
    return ramps.map { Watched($0.ramp) }
  }

  @Test func `decoders are closed when 64 further tracks have begun`() throws {
    let rig = try PlayerRig(endsWithQueue: false)
    let watched = enqueueRamps(100, on: rig)
    rig.player.play()
    for _ in 0..<40 { _ = rig.run(cycles: 40) }
    #expect(rig.player.state == .idle)
    #expect(watched.prefix(100 - 65).allSatisfy { $0.decoder == nil })
    #expect(watched.suffix(60).allSatisfy { $0.decoder != nil })
  }

  @Test func `no decoder of a repeating queue is closed, and each is played again`() throws {
    let rig = try PlayerRig(endsWithQueue: false)
    rig.player.isRepeating = true
    let watched = enqueueRamps(100, on: rig)
    rig.player.play()
    for _ in 0..<40 { _ = rig.run(cycles: 40) }
    #expect(watched.allSatisfy { $0.decoder != nil })
    #expect(!rig.events.contains { if case .failed = $0.kind { true } else { false } })
  }

  @Test func `a reset closes all decoders`() throws {
    let rig = try PlayerRig(endsWithQueue: false)
    let watched = enqueueRamps(100, on: rig)
    rig.player.play()
    _ = rig.run(cycles: 200)
    rig.player.reset()
    for _ in 0..<10 { _ = rig.run(cycles: 40) }
    #expect(rig.player.state == .idle)
    #expect(watched.indices.filter { watched[$0].decoder != nil } == [])
  }
}

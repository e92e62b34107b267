import AudioBasics
import AudioFiles
import AudioSessions
import Foundation
import RealtimeAudio
import Testing

/// Tests of sources that wait for a network and are interrupted by other requests.
@Suite struct InterruptedSourceTests {
  /// A source of constant samples that are available up to the frame `arrived`. A read at that
  /// frame is interrupted, as a waiting read is by a key.
  private final class WaitingSource: PlainSoundDecoder, @unchecked Sendable {
    // @unchecked because the rig reads on one thread, and a lock protects the rest.
    let name: String
    let sampleRate: Int
    let channelCount = 2
    let frameCount: Int? = 400_000
    let supportsSeeking = true
    private(set) var position = 0
    private let interruption = MutexBox(false)
    /// The first frame that has not arrived.
    var arrived = Int.max
    /// Functions that are called before an interruption takes effect, and after it ends.
    var beforeInterruption: () -> Void = {}
    var beforeProceeding: () -> Void = {}
    var isReadyNow = true
    var beforeReading: () -> Void = {}

    init(_ name: String, sampleRate: Int) {
      self.name = name
      self.sampleRate = sampleRate
    }

    var isInterrupted: Bool { interruption.withLock { $0 } }

    func interrupt() {
      beforeInterruption()
      interruption.withLock { $0 = true }
    }

    func proceed() {
      interruption.withLock { $0 = false }
      beforeProceeding()
    }

    func isReady(prebuffer seconds: Double?) -> Bool { isReadyNow }

    func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
      beforeReading()
      if position >= arrived { interrupt() }
      guard !isInterrupted else { return 0 }
      let count = min(frames, 400_000 - position, arrived - position)
      for sample in 0..<2 * count { buffer[2 * target + sample] = 0.25 }
      position += count
      return count
    }

    func seek(toFrame frame: Int) { position = frame }
  }

  @Test(arguments: [48_000, 44_100], [1, 2, 4])
  func `a source that is sought while it waits continues, and not the next one`(
    rate: Int, seeks: Int
  )
    throws
  {
    let rig = try PlayerRig()
    let sources = (0..<2).map { WaitingSource("source \($0)", sampleRate: rate) }
    for source in sources {
      rig.player.enqueue(QueueItem(QueueItem.Part(name: source.name) { _ in source }))
    }
    rig.player.play()
    _ = rig.run(cycles: 200)
    // The frames at the new position arrive only after all seeks were requested.
    sources[0].arrived = 150_000
    for seek in 0..<seeks {
      try rig.player.seek(toFrame: 200_000 + 10_000 * seek)
      _ = rig.run(cycles: 20)
    }
    sources[0].arrived = .max
    for source in sources { source.proceed() }
    _ = rig.run(cycles: 500)
    #expect(rig.player.current?.index == 0)
    #expect((rig.player.position ?? 0) > 190_000 + 10_000 * seeks)
    #expect(!rig.events.contains { $0.index == 1 })
    rig.conclude()
    #expect(rig.player.playedTracks.map(\.track.index) == [0])
  }

  @Test func `a skip that is requested while a source is opened interrupts its first read`() throws
  {
    let rig = try PlayerRig()
    let sources = (0..<2).map { WaitingSource("source \($0)", sampleRate: 48_000) }
    // The first source has no frames yet: a read would wait for a network.
    var waits = 0
    sources[0].beforeReading = { if !sources[0].isInterrupted { waits += 1 } }
    let player = rig.player
    player.enqueue(
      QueueItem(
        QueueItem.Part(name: sources[0].name) { _ in
          player.skip(by: 1)
          return sources[0]
        }))
    player.enqueue(QueueItem(QueueItem.Part(name: sources[1].name) { _ in sources[1] }))
    player.play()
    _ = rig.run(cycles: 200)
    #expect(waits == 0)
    #expect(player.current?.index == 1)
    rig.conclude()
  }

  @Test func `an interruption ends when the change for which it was made is executed`() throws {
    let rig = try PlayerRig()
    let source = WaitingSource("source", sampleRate: 48_000)
    rig.player.enqueue(QueueItem(QueueItem.Part(name: source.name) { _ in source }))
    rig.player.play()
    _ = rig.run(cycles: 50)
    // The feeder thread checks for changes while the interruption is in progress.
    var feeding: RivalThread?
    source.beforeInterruption = {
      guard feeding == nil else { return }
      nonisolated(unsafe) let rig = rig
      let rival = RivalThread { rig.step() }
      feeding = rival
      rival.waitUntilItWaits()
    }
    try rig.player.seek(toFrame: 100_000)
    // Waits until the step, which itself waited for the change, has ended.
    try #require(feeding).waitForEnd()
    _ = rig.run(cycles: 200)
    #expect(!source.isInterrupted)
    #expect((rig.player.position ?? 0) > 100_000)
    rig.conclude()
  }

  @Test func `an interruption for two changes that are executed together ends with them`() throws {
    let rig = try PlayerRig()
    let source = WaitingSource("source", sampleRate: 48_000)
    rig.player.enqueue(QueueItem(QueueItem.Part(name: source.name) { _ in source }))
    rig.player.play()
    _ = rig.run(cycles: 50)
    try rig.player.seek(toFrame: 50_000)
    // More seeks are requested while the first is about to be executed: one after each of the two
    // calls that end its interruption.
    var asking: [RivalThread] = []
    source.beforeProceeding = {
      guard asking.count < 2 else { return }
      let player = rig.player
      let rival = RivalThread { try? player.seek(toFrame: 100_000) }
      asking.append(rival)
      rival.waitUntilItWaits()
    }
    _ = rig.run(cycles: 20)
    #expect(asking.count == 2)
    for rival in asking { rival.waitForEnd() }
    _ = rig.run(cycles: 200)
    #expect(!source.isInterrupted)
    #expect((rig.player.position ?? 0) > 100_000)
    rig.conclude()
  }

  @Test func `an interrupted source continues although the next one has begun`()
    throws
  {
    let rig = try PlayerRig(prebufferSeconds: 1)
    let sources = (0..<2).map { WaitingSource("source \($0)", sampleRate: 48_000) }
    // No frame of the second source is ready.
    sources[1].isReadyNow = false
    for source in sources {
      rig.player.enqueue(QueueItem(QueueItem.Part(name: source.name) { _ in source }))
    }
    rig.player.play()
    // All of the first source is read but not yet played.
    var cycles = 0
    while sources[0].position < 400_000, cycles < 20_000 {
      _ = rig.run(cycles: 10)
      cycles += 10
    }
    _ = rig.run(cycles: 50)
    try rig.player.seek(toFrame: 200_000)
    _ = rig.run(cycles: 300)
    #expect(rig.player.current?.index == 0)
    #expect(!sources[0].isInterrupted)
    #expect((rig.player.position ?? 0) > 200_000)
    rig.conclude()
  }

  @Test func `the frames played are reported although a later seek and skip were not heard`()
    throws
  {
    let files = try (0..<2).map { _ in try CountedFile(frames: 200_000) }
    let rig = try PlayerRig()
    for file in files { rig.enqueue(file) }
    rig.player.play()
    _ = rig.run(cycles: 1000)
    rig.player.pause()
    _ = rig.run(cycles: 200)
    try rig.player.seek(toFrame: 10_000)
    _ = rig.run(cycles: 50)
    rig.player.skip(by: 1)
    _ = rig.run(cycles: 50)
    rig.player.play()
    _ = rig.run(cycles: 200)
    rig.conclude()
    let played = rig.player.playedTracks
    #expect(played.map(\.track.index) == [0, 1])
    let heard = played.first?.frames ?? 0
    #expect((64_000...64_500).contains(heard), "\(heard)")
    let canceled = rig.events.filter { if case .decodingCanceled = $0.kind { true } else { false } }
    #expect(canceled.first?.playedFrames == heard)
    #expect(canceled.first?.frame == heard)
  }
}

import AudioBasics
import AudioDevices
import Glibc
import RealtimeAudio
import SimulatedDevices
import Synchronization
import Testing

@testable import AudioSessions

/// Tests of commands that arrive faster than they can be executed.
@Suite struct StormTests {
  /// Sends a new command whenever one is executed.
  private final class Storm: Sendable {
    let carriedOut = Atomic(0)

    func strike(_ player: AudioPlayer) {
      player.request(
        .work { [self] _, _ in
          let count = carriedOut.add(1, ordering: .relaxed).newValue
          if count < 100_000 { strike(player) }
          return false
        })
    }
  }

  @Test func `a step of the feeder ends, and sound continues, with any number of commands`() throws
  {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 96000))
    rig.player.play()
    _ = rig.run(cycles: 20)
    let storm = Storm()
    storm.strike(rig.player)
    rig.step()
    #expect(storm.carriedOut.load(ordering: .relaxed) <= 128)
    // 1.5 seconds, more than was queued before.
    let heard = numbers(rig.run(cycles: 1125))
    #expect(difference(heard, 20 * 64..<20 * 64 + 1125 * 64) == nil)
    #expect(storm.carriedOut.load(ordering: .relaxed) >= 1125)
  }

  @Test func `an end takes effect between two commands`() throws {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 96000))
    rig.player.play()
    _ = rig.run(cycles: 20)
    let feeder = try #require(rig.player.connection).feeder
    let storm = Storm()
    rig.player.request(
      .work { _, _ in
        feeder.conclude()
        return false
      })
    storm.strike(rig.player)
    rig.step()
    #expect(storm.carriedOut.load(ordering: .relaxed) == 0)
  }

  /// Sends random commands and a counted command every 0.7 ms.
  private final class Asker: BackgroundWork {
    private let player: AudioPlayer
    private let carriedOut: Count
    private let isOver = AtomicFlag()
    private let seed: UInt64

    init(_ player: AudioPlayer, _ carriedOut: Count, seed: UInt64) {
      self.player = player
      self.carriedOut = carriedOut
      self.seed = seed
    }

    func conclude() { isOver.raise() }

    func step() -> Bool {
      var random = SplitMix64(seed: seed)
      // The loop is limited, so that a player that never stops is detected.
      for _ in 0..<20_000 where !isOver.isRaised {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: try? player.seek(toFrame: Int.random(in: 0..<90_000, using: &random))
        case 1: try? player.seek(bySeconds: Double.random(in: -1...1, using: &random))
        case 2: player.skip(by: Int.random(in: -1...1, using: &random))
        case 3: player.toggleReversed()
        case 4: player.togglePlayPause()
        case 5: player.setSpeed(Double.random(in: 0.5...2, using: &random))
        case 6: player.gain = Gain(factor: .random(in: 0...1, using: &random))
        default: player.setRegion(1000..<40_000, times: nil)
        }
        carriedOut.ask(player)
        usleep(700)
      }
      return false
    }
  }

  private final class Count: Sendable {
    private let value = Atomic(0)
    var now: Int { value.load(ordering: .relaxed) }

    func ask(_ player: AudioPlayer) {
      player.request(
        .work { [self] _, _ in
          value.add(1, ordering: .relaxed)
          return false
        })
    }
  }

  /// The last background work of a session, which records the number of executed commands.
  private final class Marker: BackgroundWork {
    private let carriedOut: Count
    private let counts = MutexBox<(start: Int?, end: Int?)>((nil, nil))

    init(_ carriedOut: Count) { self.carriedOut = carriedOut }

    /// The counts after the first step of the feeder, and when its end was requested.
    var atStart: Int? { counts.withLock { $0.start } }
    var atEnd: Int? { counts.withLock { $0.end } }

    func step() -> Bool {
      counts.withLock { counts in
        counts.start = counts.start ?? carriedOut.now
        return counts.end == nil
      }
    }

    func conclude() { counts.withLock { $0.end = carriedOut.now } }
  }

  @Test func `commands of four threads delay neither a start nor a stop`() throws {
    let files = try (0..<3).map { try CountedFile(frames: 96000, first: $0 * 100_000) }
    let name = "sim:"
    var request = DuplexRequest(captureDevice: nil, playbackDevice: name)
    request.channelCount = 2
    let device = try SimulatedDevice(
      SimulatedDeviceSpecification(parsing: name), request: request)
    let configuration = device.configuration
    let player = AudioPlayer()
    for file in files { player.enqueue(path: file.path) }
    player.isRepeating = true
    player.play()
    var callbacks = Mixer(
      periodFrames: configuration.periodFrames, captureChannels: 0, playbackChannels: 2)
    callbacks.player = try player.attach(to: configuration)
    let carriedOut = Count()
    // More commands than one step executes.
    for _ in 0..<1000 { carriedOut.ask(player) }
    let askers = (UInt64(0)..<4).map { Asker(player, carriedOut, seed: $0) }
    let threads = try askers.map { try BackgroundThread($0) }
    let marker = Marker(carriedOut)
    let runner = SessionRunner(
      device: device, callbacks: callbacks, background: player.background + [marker], meter: nil,
      frameLimit: nil)
    _ = try runner.run(clock: .real(.normal)) { moment, _ in
      HostClock.pause(milliseconds: 1)
      return moment.frames > 4800 ? .stop(.key) : .proceed
    }
    let all = carriedOut.now
    for asker in askers { asker.conclude() }
    for thread in threads { thread.join() }
    // Commands are executed in limited steps; after the end only the current command is completed.
    let atStart = try #require(marker.atStart)
    let atEnd = try #require(marker.atEnd)
    #expect(atStart <= 128)
    #expect(all - atEnd <= 1)
  }
}

import AudioBasics
import AudioFiles
import AudioSessions
import RealtimeAudio
import Testing

/// Tests of the values that a player returns to its callers.
@Suite struct PlayerInterfaceTests {
  /// Returns a rig that has played 128 frames of a source of 96,000 frames.
  private func playing() throws -> PlayerRig {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 96000))
    rig.player.play()
    _ = rig.run(cycles: 2)
    return rig
  }

  /// Returns the failure that `seek` throws; nil if it throws none.
  private func refusal(
    _ rig: PlayerRig, _ seek: (AudioPlayer) throws(SeekFailure) -> Void
  ) -> SeekFailure? {
    do throws(SeekFailure) {
      try seek(rig.player)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a seek out of range is refused and has no effect`() throws {
    let rig = try playing()
    let outOfRange = SeekFailure.outOfRange(frameCount: 96000)
    #expect(
      refusal(rig) { player throws(SeekFailure) in try player.seek(toFrame: -1) } == outOfRange)
    #expect(
      refusal(rig) { player throws(SeekFailure) in try player.seek(toFrame: 96001) } == outOfRange)
    for seconds in [-0.1, 2.1, .nan, .infinity] {
      #expect(
        refusal(rig) { player throws(SeekFailure) in try player.seek(toSeconds: seconds) }
          == outOfRange)
    }
    for fraction in [-0.1, 1, .nan] {
      #expect(
        refusal(rig) { player throws(SeekFailure) in try player.seek(toFraction: fraction) }
          == outOfRange)
    }
    #expect(
      refusal(rig) { player throws(SeekFailure) in try player.seek(bySeconds: .nan) } == outOfRange)
    #expect(difference(numbers(rig.run(cycles: 100)), 128..<6528) == nil)
    #expect(outOfRange.message == "There is no such place: the source has 96000 frames.")
  }

  @Test func `a seek is refused if nothing plays, and accepted for a queued source`() throws {
    let rig = try PlayerRig()
    let player = rig.player
    #expect(
      refusal(rig) { player throws(SeekFailure) in try player.seek(toFrame: 0) } == .nothingPlaying)
    rig.enqueue(try CountedFile(frames: 6400))
    try player.seek(toFrame: 640)
    player.play()
    #expect(difference(numbers(rig.run(cycles: 90)), 640..<6400) == nil)
    _ = rig.run(cycles: 2)
    #expect(
      refusal(rig) { player throws(SeekFailure) in try player.seek(bySeconds: -1) }
        == .nothingPlaying)
    #expect(player.state == .idle)
  }

  @Test func `position and time are from one reading`() throws {
    let rig = try PlayerRig()
    #expect(rig.player.positionAndTime == nil)
    rig.enqueue(try CountedFile(frames: 48000, sampleRate: 24000))
    rig.player.play()
    _ = rig.run(cycles: 10)
    let place = try #require(rig.player.positionAndTime)
    #expect(place.frame == 320)
    #expect(place.frameCount == 48000)
    #expect(place.seconds == 320.0 / 24000)
    #expect(place.totalSeconds == 2)
    #expect(place.track === rig.player.current)
  }

  @Test func `the settings of a player read as they were set`() throws {
    let player = AudioPlayer(endsWithQueue: true, prebufferSeconds: 2)
    #expect(player.gain == .unity && player.shape == nil && player.state == .idle)
    #expect(!player.isRepeating && !player.isShuffling && player.isQueueEmpty)
    player.gain = Gain(factor: 0.25)
    player.isRepeating = true
    player.isShuffling = true
    player.endingSoonLeadSeconds = 3
    #expect(player.gain.factor == 0.25 && player.isRepeating && player.isShuffling)
    #expect(player.endingSoonLeadSeconds == 3 && player.prebufferSeconds == 2)
    #expect(player.background.isEmpty)
    let shape = AudioPlayer.Shape(sampleRate: 44100, channelCount: 1, periodFrames: 32)
    _ = try player.attach(to: shape)
    #expect(player.shape == shape && player.background.count == 3)
  }

  @Test func `the earlier names of the settings do the same`() {
    let player = AudioPlayer()
    let earlier: any EarlierNames = player
    earlier.setGain(Gain(factor: 0.5))
    earlier.setRepeating(true, shuffles: true, seed: 1)
    earlier.setEndingSoonLead(seconds: 2)
    #expect(player.gain.factor == 0.5 && player.isRepeating && player.isShuffling)
    #expect(player.endingSoonLeadSeconds == 2)
    earlier.setRepeating(true, shuffles: false, seed: nil)
    #expect(player.isRepeating && !player.isShuffling)
    let tap = SilentTap()
    earlier.insert(tap)
    #expect(player.tap === tap)
    earlier.insert(nil)
    #expect(player.tap == nil)
  }

  @Test func `a time before the end that is negative or not a number is never`() {
    let player = AudioPlayer()
    for seconds in [-1, -Double.infinity, Double.nan] {
      player.endingSoonLeadSeconds = 5
      player.endingSoonLeadSeconds = seconds
      #expect(player.endingSoonLeadSeconds == 0)
    }
  }

  @Test func `a decoder replaces the playing source, and its identity is known`() throws {
    let rig = try playing()
    rig.player.enqueue(path: "/nowhere")
    let ramp = PlayerEventTests.Ramp(frames: 640, supportsSeeking: false)
    let id = ObjectIdentifier(ramp)
    rig.player.resetAndEnqueue(ramp)
    let heard = numbers(rig.run(cycles: 20))
    // The queued frames are played first.
    let lead = 48000 / 50 + 2 * 64
    #expect(difference(heard.prefix(lead), 128..<128 + lead) == nil)
    #expect(heard[lead] == 0)
    #expect(rig.player.current?.decoderIDs == [id])
    rig.player.resetAndEnqueue(path: try CountedFile(frames: 640).path)
    #expect(rig.player.isQueueEmpty == false)
  }

  @Test func `several handlers are called, each until it is removed`() throws {
    let rig = try PlayerRig()
    let counts = MutexBox([0, 0])
    let first = rig.player.addEventHandler { _ in counts.withLock { $0[0] += 1 } }
    rig.player.addEventHandler { _ in counts.withLock { $0[1] += 1 } }
    rig.enqueue(try CountedFile(frames: 640))
    rig.player.play()
    _ = rig.run(cycles: 5)
    let before = counts.withLock { $0 }
    #expect(before[0] > 0 && before[0] == before[1])
    first.cancel()
    _ = rig.run(cycles: 20)
    let after = counts.withLock { $0 }
    #expect(after[0] == before[0] && after[1] > before[1])
  }

  @Test func `the end of a turn is reported with the number of frames played, and its time`() throws
  {
    let before = HostClock.nanoseconds
    let rig = try playing()
    rig.player.cancelCurrent()
    rig.enqueue(try CountedFile(frames: 640))
    _ = rig.run(cycles: 40)
    rig.conclude()
    let ends = rig.events.filter { $0.playedFrames != nil }
    #expect(ends.map(\.playedFrames) == [128 + 48000 / 50 + 2 * 64, 640])
    let told = ends.map(\.toldNanoseconds)
    #expect(told == told.sorted())
    #expect(told.allSatisfy((before...HostClock.nanoseconds).contains))
  }

  /// An actor that owns a player and makes all calls to it.
  private actor Jukebox {
    let player = AudioPlayer()

    func choose(_ path: String) -> PlayerState {
      player.resetAndEnqueue(path: path)
      player.play()
      try? player.seek(toSeconds: 0)
      return player.state
    }
  }

  @Test func `an actor can own a player`() async throws {
    #expect(await Jukebox().choose("/nowhere") == .waiting)
  }
}

/// The deprecated methods: a requirement may be met by them without a warning.
private protocol EarlierNames {
  func setGain(_ gain: Gain)
  func setRepeating(_ repeats: Bool, shuffles: Bool, seed: UInt64?)
  func setEndingSoonLead(seconds: Double)
  func insert(_ tap: (any PlayerTap)?)
}

extension AudioPlayer: EarlierNames {}

/// A tap that changes nothing.
private final class SilentTap: PlayerTap {
  func process(_ buffer: inout SampleBuffer, frames: Int, at frame: Int) {}
}

// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// All that the input hears: the wire, what a feeder queued, and noise, in the device's format.
///
/// The feeder's frame m is heard at captured frame m. One that is not queued in time is silence.
struct Microphone: ~Copyable, Sendable {
  private var wire: Wire
  private var feeder: SampleReader?
  private let hasFeeder: Bool
  private var noise: NoiseSource
  private let isNoisy: Bool
  private var heard: SampleBuffer
  private var fed: SampleBuffer
  private var captured: DeviceBuffer
  private let periodFrames: Int

  init(
    wire: consuming Wire, feeder: consuming SampleReader?, hasFeeder: Bool, noiseDBFS: Double?,
    format: SampleFormat, channelCount: Int, periodFrames: Int
  ) {
    self.wire = wire
    self.feeder = feeder
    self.hasFeeder = hasFeeder
    noise = NoiseSource(decibels: noiseDBFS ?? -200)
    isNoisy = noiseDBFS != nil
    heard = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
    fed = SampleBuffer(frameCount: hasFeeder ? periodFrames : 0, channelCount: channelCount)
    captured = DeviceBuffer(format: format, channelCount: channelCount, frameCount: periodFrames)
    self.periodFrames = periodFrames
  }

  /// Output frames played when `frame` frames are captured.
  @_noLocks
  func played(at frame: Int) -> Int {
    wire.played(at: frame)
  }

  /// A frame whose capture says that `position` output frames were played.
  @_noLocks
  func captured(at position: Int) -> Int {
    wire.captured(at: position)
  }

  /// The output frame that is played when `frame` is captured, or the nearest one.
  @_noLocks
  func nearestPlayed(at frame: Int) -> Int {
    wire.nearestPlayed(at: frame)
  }

  /// The `frames` frames captured from `frame` on.
  @_noLocks
  mutating func hear(_ tape: borrowing OutputTape, from frame: Int, frames: Int) -> DeviceFrames {
    let position = frame &- wire.wholeDelay
    if wire.isPlain, !hasFeeder, !isNoisy, tape.isWhole(from: position, frames: frames) {
      captured.store(tape.samples, from: tape.slot(of: position), frames: frames)
    } else {
      wire.carry(tape, from: frame, frames: frames, into: &heard)
      if hasFeeder { feed(from: frame, frames: frames) }
      if isNoisy { noise.add(to: &heard, frames: frames) }
      captured.store(heard, from: 0, frames: frames)
    }
    return captured.frames(frames)
  }

  /// The same over a wire that drifts: `played` output frames were played at the first frame, and
  /// `step` more at each one after.
  @_noLocks
  mutating func hear(
    _ tape: borrowing OutputTape, from frame: Int, frames: Int, played: Double, step: Double
  ) -> DeviceFrames {
    wire.carry(tape, played: played, step: step, frames: frames, into: &heard)
    if hasFeeder { feed(from: frame, frames: frames) }
    if isNoisy { noise.add(to: &heard, frames: frames) }
    captured.store(heard, from: 0, frames: frames)
    return captured.frames(frames)
  }

  @_noLocks
  private mutating func feed(from frame: Int, frames: Int) {
    // What nobody heard, because frames were lost or the feeder was late, is past.
    guard pass(to: frame) else { return }
    let count = feeder?.read(into: &fed, frames: frames) ?? 0
    heard.add(fed, frames: count)
  }

  /// Lets what is fed before `frame` go by unheard. False where not all of it was queued.
  @_noLocks
  mutating func pass(to frame: Int) -> Bool {
    var stale = frame &- (feeder?.frameCount ?? frame)
    while stale > 0 {
      let skipped = feeder?.read(into: &fed, frames: min(stale, periodFrames)) ?? 0
      if skipped == 0 { return false }
      stale &-= skipped
    }
    return true
  }
}

// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// The audio thread's half of playing: takes frames from the ring that the disk thread's half
/// (`PlayFeeder`, `QueueFeeder`) keeps full.
public struct Player: ~Copyable {
  private var ring: SampleReader
  private var buffer: SampleBuffer
  private var starvedFrames = 0
  /// Frames to be passed over before anything is played again.
  private var owedFrames = 0
  /// Whether every frame belongs to a moment of the unit's timeline: what was not played in time is
  /// left out rather than played later.
  public var keepsTimeline = false
  private var starved = CountPublisher()
  /// What steers it, where something does.
  private var remote: PlayerRemote?
  /// Whether the last frame has been taken.
  public private(set) var isFinished = false

  /// Plays what comes out of `ring`, at most `periodFrames` a cycle.
  public init(ring: consuming SampleReader, channelCount: Int, periodFrames: Int) {
    self.init(
      ring: ring, channelCount: channelCount, periodFrames: periodFrames, remote: nil)
  }

  init(
    ring: consuming SampleReader, channelCount: Int, periodFrames: Int,
    remote: consuming PlayerRemote?
  ) {
    self.ring = ring
    buffer = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
    self.remote = remote
  }

  /// Frames that were due and not there, as they become more: the disk or the network was too slow.
  public borrowing func makeStarvationView() -> CountView {
    starved.makeView()
  }

  /// Frames played so far.
  public var frameCount: Int {
    @_noLocks get { ring.frameCount }
  }

  /// Passes over `frames` frames, because their moment is past.
  @_noLocks
  public mutating func skip(_ frames: Int) {
    owedFrames &+= frames
  }

  /// Adds the next `frames` frames to the first of `mix`. Returns how many there were.
  @_noLocks
  public mutating func play(into mix: inout SampleBuffer, frames: Int, at time: CycleTime) -> Int {
    // In this order: what is queued after the end was announced is all there will be.
    let isLast = ring.isFinished
    payOwed()
    var wanted = owedFrames > 0 ? 0 : frames
    if remote != nil {
      wanted = remote?.wanted(wanted, queued: ring.available, isLast: isLast) ?? 0
    }
    // What is not wanted any more is not wanted in a pause either.
    if wanted == 0 && remote != nil {
      ring.passReplaced()
      remote?.note(upTo: ring.frameCount, frames: 0, at: 0, of: time)
    }
    var count = 0
    // A second and a third time where frames were taken out of the ring.
    var turns = 0
    while count < wanted && turns < 3 {
      let some = ring.read(into: &buffer, at: count, frames: wanted &- count)
      remote?.note(upTo: ring.frameCount, frames: some, at: count, of: time)
      count &+= some
      turns &+= 1
    }
    remote?.shape(&buffer, frames: count)
    mix.add(buffer, frames: count)
    if count < frames { fallShort(by: frames &- count, isLast: isLast && ring.available == 0) }
    return count
  }

  @_noLocks
  private mutating func fallShort(by frames: Int, isLast: Bool) {
    if isLast {
      isFinished = true
    } else if remote?.isSilent != true && remote?.starve() != false {
      starvedFrames &+= frames
      starved.publish(starvedFrames)
      if keepsTimeline { owedFrames &+= frames }
    }
  }

  /// Throws away what is owed, as far as it is there.
  @_noLocks
  private mutating func payOwed() {
    // A bound on what one cycle may take; the rest is owed to the next.
    var turns = 0
    while owedFrames > 0 && turns < 256 {
      let count = ring.read(into: &buffer, frames: min(owedFrames, buffer.frameCount))
      if count == 0 { return }
      owedFrames &-= count
      turns &+= 1
    }
  }
}

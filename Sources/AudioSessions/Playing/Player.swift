// Audio thread.
import AudioBasics
import RealtimeAudio

/// The audio thread's half of playing: takes frames from the ring that the disk thread's half
/// (`PlayFeeder`) keeps full.
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
  /// Whether the last frame has been taken.
  public private(set) var isFinished = false

  /// Plays what comes out of `ring`, at most `periodFrames` a cycle.
  public init(ring: consuming SampleReader, channelCount: Int, periodFrames: Int) {
    self.ring = ring
    buffer = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
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
  public mutating func play(into mix: inout SampleBuffer, frames: Int) -> Int {
    // In this order: what is queued after the end was announced is all there will be.
    let isLast = ring.isFinished
    payOwed()
    let count = owedFrames > 0 ? 0 : ring.read(into: &buffer, frames: frames)
    mix.add(buffer, frames: count)
    if count < frames {
      if isLast {
        isFinished = true
      } else {
        starvedFrames &+= frames &- count
        starved.publish(starvedFrames)
        if keepsTimeline { owedFrames &+= frames &- count }
      }
    }
    return count
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

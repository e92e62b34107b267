// Audio thread.
import AudioBasics
import RealtimeAudio

/// The audio thread's half of playing: takes frames from the ring that the disk thread's half
/// (`PlayFeeder`) keeps full.
public struct Player: ~Copyable {
  private var ring: SampleReader
  private var buffer: SampleBuffer

  private var starvedFrames = 0
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

  /// Adds the next `frames` frames to the first of `mix`. Returns how many there were.
  @_noLocks
  public mutating func play(into mix: inout SampleBuffer, frames: Int) -> Int {
    // In this order: what is queued after the end was announced is all there will be.
    let isLast = ring.isFinished
    let count = ring.read(into: &buffer, frames: frames)
    mix.add(buffer, frames: count)
    if count < frames {
      if isLast {
        isFinished = true
      } else {
        starvedFrames &+= frames &- count
        starved.publish(starvedFrames)
      }
    }
    return count
  }
}

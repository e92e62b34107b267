// Audio thread.
import AudioBasics
import AudioDevices

/// What the output has played and will play, frame by frame since the start.
///
/// A ring, long enough for all that the microphone can still hear. Positions below 0 and from
/// `end` on are silence.
struct OutputTape: ~Copyable, Sendable {
  /// The frames, each at the slot of its position.
  private(set) var samples: SampleBuffer
  /// The position after the last frame handed over.
  private(set) var end = 0
  private let capacity: Int
  private var spill: SampleBuffer

  /// A silent tape that remembers at least `frameCount` frames.
  init(frameCount: Int, channelCount: Int, periodFrames: Int) {
    var capacity = 1
    while capacity < frameCount { capacity *= 2 }
    self.capacity = capacity
    samples = SampleBuffer(frameCount: capacity, channelCount: channelCount)
    spill = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
  }

  /// Where the frame at `position` is kept.
  @_noLocks
  func slot(of position: Int) -> Int {
    position & (capacity &- 1)
  }

  /// Whether `frames` frames from `position` on are known and lie in one piece.
  @_noLocks
  func isWhole(from position: Int, frames: Int) -> Bool {
    position &+ frames <= end && slot(of: position) &+ frames <= capacity
  }

  /// Appends the first `frames` frames of `buffer`.
  @_noLocks
  mutating func append(_ buffer: borrowing DeviceBuffer, frames: Int) {
    let first = slot(of: end)
    if first &+ frames <= capacity {
      buffer.load(frames: frames, into: &samples, at: first)
    } else {
      buffer.load(frames: frames, into: &spill, at: 0)
      let beforeWrap = capacity &- first
      samples.replace(at: first, with: spill, from: 0, frames: beforeWrap)
      samples.replace(at: 0, with: spill, from: beforeWrap, frames: frames &- beforeWrap)
    }
    end &+= frames
  }

  /// Keeps what was played before `position`, forgets what was still queued there, and goes on
  /// with `frames` frames of silence.
  @_noLocks
  mutating func restart(at position: Int, silence frames: Int) {
    let newEnd = position + frames
    var silent = max(min(end, position), newEnd - capacity)
    while silent < newEnd {
      let run = min(newEnd - silent, capacity - slot(of: silent))
      samples.clear(from: slot(of: silent), frames: run)
      silent += run
    }
    end = newEnd
  }

  /// Fills the first `frames` frames of `buffer` with those from `position` on, times `gain`.
  @_noLocks
  func read(from position: Int, frames: Int, times gain: Float, into buffer: inout SampleBuffer) {
    let known = max(0, min(frames, end &- position))
    var done = 0
    while done < known {
      let first = slot(of: position &+ done)
      let run = min(known &- done, capacity &- first)
      buffer.replace(at: done, with: samples, from: first, frames: run)
      done &+= run
    }
    buffer.clear(from: known, frames: frames &- known)
    if gain != 1 { buffer.scale(frames: frames, by: gain) }
  }
}

// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// The audio thread's half of a recording: puts frames on the tape, a ring that the disk thread's
/// half (`RecordingWriter`) winds off.
///
/// Beside the ring goes a list of gaps: frames that the device lost, and frames that found the
/// ring full because the disk stood still for longer than it holds. The tape's timeline stays true.
public struct Recorder: MixerStage, ~Copyable {
  private var tape: SampleWriter
  private var gaps: EventWriter
  private var origin: CaptureOrigin
  private var lost = 0
  private var overflowed = 0

  /// A recorder with a tape that holds `frameCount` frames of a disk that stands still.
  public init(frameCount: Int, channelCount: Int, sampleRate: Int) {
    self.init(
      tape: SampleWriter(frameCount: frameCount, channelCount: channelCount), gaps: EventWriter(),
      sampleRate: sampleRate)
  }

  /// Records to these ends of a ring and a list of gaps.
  public init(
    tape: consuming SampleWriter, gaps: consuming EventWriter, sampleRate: Int = 48000
  ) {
    self.tape = tape
    self.gaps = gaps
    origin = CaptureOrigin(sampleRate: sampleRate)
  }

  /// The disk thread's end of the tape. Ask once.
  public borrowing func makeFeed() -> RecordingReader {
    RecordingReader(tape: tape.makeReader(), gaps: gaps.makeReader(), origin: origin.makeView())
  }

  /// Frames that found no room.
  public private(set) var overflowFrames = 0

  /// Puts the first `frames` frames of `buffer` on the tape, after the gap that `time` tells of.
  @_noLocks
  public mutating func record(_ buffer: borrowing SampleBuffer, frames: Int, at time: CycleTime) {
    lost &+= time.lostFrames
    origin.note(frames, at: time)
    // A gap must stand on the list before the frames that follow it are on the tape.
    let isListed = tellGaps(hasRoom: tape.room > 0)
    let written = isListed ? tape.write(buffer, frames: frames) : 0
    overflowed &+= frames &- written
    overflowFrames &+= frames &- written
  }

  /// Records the frames of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    record(bus.buffer, frames: bus.frames, at: bus.time)
  }

  /// Says that the take is over.
  @_noLocks
  public mutating func finish() {
    _ = tellGaps(hasRoom: true)
    tape.finish()
  }

  @_noLocks
  private mutating func tellGaps(hasRoom: Bool) -> Bool {
    if lost > 0 {
      let gap = TimelineEvent(kind: .captureXrun, frame: tape.frameCount, frames: lost)
      guard gaps.write(gap) else { return false }
      lost = 0
    }
    // While nothing fits, it is one gap that grows.
    if overflowed > 0 && hasRoom {
      let gap = TimelineEvent(kind: .overflow, frame: tape.frameCount, frames: overflowed)
      guard gaps.write(gap) else { return false }
      overflowed = 0
    }
    return true
  }
}

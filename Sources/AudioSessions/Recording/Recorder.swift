// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// The audio thread's half of a recording: writes frames to the capture ring, which the disk
/// thread's half (`RecordingWriter`) reads.
///
/// A list of gaps accompanies the ring: frames that the device lost, and frames that did not fit
/// into the ring because the disk stalled for longer than the ring holds. The recording's timeline
/// stays correct.
///
/// A device that takes over may have another number of channels. Each channel of the recording is
/// then the channel with the same number, or the last one if the device has fewer.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free,noise=-20"))
/// let granted = opened.configuration
/// let plan = RecordingPlan(
///   path: "take.wav", fileFormat: .wav, sampleFormat: .s24, sampleRate: granted.sampleRate,
///   channelCount: granted.capture?.channelCount ?? 2)
/// let writer = try RecordingWriter(plan, ringFrames: 96000)
/// var mixer = Mixer(granted)
/// mixer.inputRecorder = writer.takeRecorder()
/// let runner = SessionRunner(
///   device: opened.device, callbacks: mixer, background: [writer], meter: nil, frameLimit: 48000)
/// _ = try runner.run(clock: opened.clock) { _, _ in .proceed }
/// precondition(writer.report.frames == 48000 && writer.report.failure == nil)
/// ```
public struct Recorder: MixerStage, ~Copyable {
  private var ring: SampleWriter
  private var gaps: EventWriter<TimelineEvent>
  private var origin: CaptureOrigin
  /// A buffer for a few frames whose channels are mapped to those of the ring.
  private var mapped: SampleBuffer
  private var lost = 0
  private var overflowed = 0

  /// Creates a recorder whose ring holds `frameCount` frames while the disk stalls, as 16-bit
  /// samples if `isSixteenBit`.
  public init(frameCount: Int, channelCount: Int, sampleRate: Int, isSixteenBit: Bool = false) {
    self.init(
      ring: SampleWriter(
        frameCount: frameCount, channelCount: channelCount, isSixteenBit: isSixteenBit),
      gaps: EventWriter<TimelineEvent>(), sampleRate: sampleRate)
  }

  /// Records to these ends of a ring and a list of gaps.
  public init(
    ring: consuming SampleWriter, gaps: consuming EventWriter<TimelineEvent>,
    sampleRate: Int = 48000
  ) {
    mapped = SampleBuffer(frameCount: 64, channelCount: ring.channelCount)
    self.ring = ring
    self.gaps = gaps
    origin = CaptureOrigin(sampleRate: sampleRate)
  }

  /// Returns the disk thread's end of the ring. Call it once.
  public borrowing func makeReader() -> RecordingReader {
    RecordingReader(
      ring: ring.makeReader(), gaps: gaps.makeReader(), origin: origin.makeView(),
      firstFrame: origin.makeFirstFrameView())
  }

  /// The number of frames that did not fit into the ring.
  public private(set) var overflowFrames = 0

  /// Writes the first `frames` frames of `buffer` to the ring, after the gap that `time` contains.
  @_noLocks
  public mutating func record(_ buffer: borrowing SampleBuffer, frames: Int, at time: CycleTime) {
    lost &+= time.lostFrames
    origin.note(frames, at: time)
    // A gap must be in the list before the frames that follow it are in the ring.
    let isListed = emitGaps(hasRoom: ring.room > 0)
    let written = isListed ? write(buffer, frames: frames) : 0
    overflowed &+= frames &- written
    overflowFrames &+= frames &- written
  }

  /// Skips `frames` frames of a unit that lacks the recorded source: they become a gap.
  @_noLocks
  mutating func skip(_ frames: Int, at time: CycleTime) {
    lost &+= time.lostFrames &+ frames
    origin.note(frames, at: time)
  }

  /// Records the frames of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    record(bus.buffer, frames: bus.frames, at: bus.time)
  }

  /// Marks the end: no more frames will follow.
  @_noLocks
  public mutating func finish() {
    _ = emitGaps(hasRoom: true)
    ring.finish()
  }

  @_noLocks
  private mutating func write(_ buffer: borrowing SampleBuffer, frames: Int) -> Int {
    guard buffer.channelCount != mapped.channelCount else {
      return ring.write(buffer, frames: frames)
    }
    var done = 0
    while done < frames {
      let count = min(frames &- done, mapped.frameCount)
      map(buffer, from: done, frames: count)
      let written = ring.write(mapped, frames: count)
      done &+= written
      guard written == count else { break }
    }
    return done
  }

  @_noLocks
  private mutating func map(_ buffer: borrowing SampleBuffer, from first: Int, frames: Int) {
    let (theirs, ours) = (buffer.channelCount, mapped.channelCount)
    var frame = 0
    while frame < frames {
      var channel = 0
      while channel < ours {
        mapped[frame &* ours &+ channel] =
          buffer[(first &+ frame) &* theirs &+ min(channel, theirs &- 1)]
        channel &+= 1
      }
      frame &+= 1
    }
  }

  @_noLocks
  private mutating func emitGaps(hasRoom: Bool) -> Bool {
    if lost > 0 {
      let gap = TimelineEvent(kind: .captureXrun, frame: ring.frameCount, frames: lost)
      guard gaps.write(gap) else { return false }
      lost = 0
    }
    // As long as nothing fits into the ring, the frames form one growing gap.
    if overflowed > 0 && hasRoom {
      let gap = TimelineEvent(kind: .overflow, frame: ring.frameCount, frames: overflowed)
      guard gaps.write(gap) else { return false }
      overflowed = 0
    }
    return true
  }
}

/// The time at which a recording's first frame was captured, computed again in every cycle.
///
/// A cycle that woke up late gives a time that is too late, so the earliest result is the best. The
/// result may rise by 200 ppm, which is more than any card's clock deviates from the host's, so
/// that it stays correct for days.
struct CaptureOrigin: ~Copyable {
  private var published = PublishedValue()
  private var publishedFirstFrame = PublishedValue()
  private let sampleRate: Int
  private var firstFrame = -1
  private var nanoseconds = 0

  init(sampleRate: Int) {
    self.sampleRate = max(1, sampleRate)
    publishedFirstFrame.publish(firstFrame)
  }

  borrowing func makeView() -> PublishedValueView {
    published.makeView()
  }

  /// Returns a view of the recording's first frame on the unit's timeline; below 0 before it is
  /// captured.
  borrowing func makeFirstFrameView() -> PublishedValueView {
    publishedFirstFrame.makeView()
  }

  /// Processes a cycle of `frames` frames.
  @_noLocks
  mutating func note(_ frames: Int, at time: CycleTime) {
    let isFirst = firstFrame < 0
    // A gap before the first frame is recorded as silence.
    if isFirst {
      firstFrame = time.frame &- time.lostFrames
      publishedFirstFrame.publish(firstFrame)
    }
    let passed = time.frame &- firstFrame &+ frames
    let length = FrameTime.nanoseconds(of: passed, at: sampleRate)
    let found = Int(truncatingIfNeeded: time.nanoseconds &- length)
    let leak = frames &* 200_000 / sampleRate
    nanoseconds = isFirst ? found : min(found, nanoseconds &+ leak)
    published.publish(nanoseconds)
  }
}

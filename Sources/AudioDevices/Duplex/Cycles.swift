// Audio thread.
import AudioBasics

/// The position of a cycle on the timeline, its time, and the length of the gap before it.
///
/// ```swift
/// let cycle = CycleTime(frame: 48000, nanoseconds: 2_000_000_000, lostFrames: 480)
/// precondition(cycle.frame - cycle.lostFrames == 47520)  // where the cycle before ended
/// ```
public struct CycleTime: BitwiseCopyable, Sendable {
  /// The cycle's first frame on the unit's timeline, which counts captured frames, lost ones too.
  public let frame: Int
  /// When the wait found the cycle's last input frame, in nanoseconds of the device's clock: later
  /// than the frame by the delay of the wake-up. Exact on simulated devices.
  public let nanoseconds: UInt64
  /// Frames that were lost between the last cycle and this one: a gap that ends at `frame`.
  public let lostFrames: Int

  /// A cycle at `frame`.
  @_noLocks
  public init(frame: Int, nanoseconds: UInt64, lostFrames: Int) {
    self.frame = frame
    self.nanoseconds = nanoseconds
    self.lostFrames = lostFrames
  }
}

/// The captured frames of one cycle. Lent for the length of the callback. Audio thread.
public struct InputCycle: ~Copyable {
  /// The cycle's position on the timeline, and its time.
  public let time: CycleTime
  /// Frames delivered: at most a period.
  public let frameCount: Int
  private let frames: DeviceFrames

  @_noLocks
  init(time: CycleTime, frames: DeviceFrames, frameCount: Int) {
    self.time = time
    self.frames = frames
    self.frameCount = frameCount
  }

  /// Samples in a frame.
  public var channelCount: Int {
    @_noLocks get { frames.layout.channelCount }
  }

  /// Renders all frames of the cycle into the start of `buffer`, which must have the input's
  /// channels and room for them. The buffer is the caller's and stays so.
  @_noLocks
  public func render(into buffer: inout SampleBuffer) {
    frames.decode(from: 0, frames: frameCount, into: &buffer, at: 0)
  }
}

/// The frames of one cycle that the output plays next, to be filled by the callback. Silence where
/// they are not. Audio thread.
///
/// ```swift
/// /// One click, and the end 100 frames later.
/// struct Click: DuplexCallbacks, ~Copyable {
///   @_noLocks mutating func output(_ output: inout OutputCycle) {
///     output.silence()
///     output.end(after: 100)
///   }
/// }
/// let opened = try OpenDevice(
///   opening: DeviceSelection(input: nil, output: "sim:clock=free"))
/// let progress = UnitProgress()
/// var unit = DuplexUnit(device: opened.device, callbacks: Click(), progress: progress)
/// try unit.start()
/// if let failure = unit.run() { throw failure }
/// precondition(progress.frames == 100)
/// ```
public struct OutputCycle: ~Copyable {
  /// The cycle's position on the timeline, and its time.
  public let time: CycleTime
  /// Frames wanted: at most a period.
  public let frameCount: Int
  /// Samples that were no number (NaN) and play as silence.
  public private(set) var nanCount = 0
  /// Frames that are played; fewer than wanted when the callback ended the run.
  private(set) var playedFrames: Int
  /// Frames until the unit ends, those of this cycle among them; a great many where its end is not
  /// known yet. What fades out does so by then.
  public let framesLeft: Int
  /// Whether the callback wants no further cycle.
  private(set) var isLast = false
  private let room: DeviceFrames
  private var isFilled = false

  @_noLocks
  init(time: CycleTime, room: DeviceFrames, frameCount: Int, framesLeft: Int) {
    self.time = time
    self.framesLeft = framesLeft
    self.room = room
    self.frameCount = frameCount
    playedFrames = frameCount
  }

  /// Samples in a frame.
  public var channelCount: Int {
    @_noLocks get { room.layout.channelCount }
  }

  /// Plays the first `frameCount` frames of `buffer`, which must have the output's channels.
  /// Samples above full scale saturate.
  @_noLocks
  public mutating func play(_ buffer: borrowing SampleBuffer) {
    nanCount = room.encode(buffer, from: 0, frames: frameCount, at: 0)
    isFilled = true
  }

  /// Plays silence, without a buffer of zeros.
  @_noLocks
  public mutating func silence() {
    room.clear(from: 0, frames: frameCount)
    isFilled = true
  }

  /// Ends the run: of this cycle only the first `frames` frames are played, and no other follows.
  @_noLocks
  public mutating func end(after frames: Int) {
    playedFrames = max(0, min(frames, frameCount))
    isLast = true
  }

  /// Silence where nothing was played.
  @_noLocks
  mutating func complete() {
    if !isFilled { silence() }
  }
}

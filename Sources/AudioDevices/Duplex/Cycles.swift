// Audio thread.
import AudioBasics

/// The position of a cycle on the timeline, its time, and the length of the gap before it.
///
/// ```swift
/// let cycle = CycleTime(frame: 48000, nanoseconds: 2_000_000_000, lostFrames: 480)
/// precondition(cycle.frame - cycle.lostFrames == 47520)  // where the cycle before ended
/// ```
public struct CycleTime: BitwiseCopyable, Sendable {
  /// The position of the cycle's first frame on the unit's timeline, in frames. The timeline counts
  /// captured and lost frames.
  public let frame: Int
  /// The time, in nanoseconds of the device's clock, at which the wait found the cycle's last input
  /// frame. It is later than that frame by the wake-up delay. Exact on simulated devices.
  public let nanoseconds: UInt64
  /// The number of frames lost between the last cycle and this one. The gap ends at `frame`.
  public let lostFrames: Int

  /// Creates the time of a cycle that starts at `frame`.
  @_noLocks
  public init(frame: Int, nanoseconds: UInt64, lostFrames: Int) {
    self.frame = frame
    self.nanoseconds = nanoseconds
    self.lostFrames = lostFrames
  }
}

/// The captured frames of one cycle, valid only during the callback. Audio thread.
public struct InputCycle: ~Copyable {
  /// The cycle's position on the timeline, and its time.
  public let time: CycleTime
  /// The number of frames delivered, at most a period.
  public let frameCount: Int
  private let frames: DeviceFrames

  @_noLocks
  init(time: CycleTime, frames: DeviceFrames, frameCount: Int) {
    self.time = time
    self.frames = frames
    self.frameCount = frameCount
  }

  /// The number of channels, which is the number of samples in a frame.
  public var channelCount: Int {
    @_noLocks get { frames.layout.channelCount }
  }

  /// Converts all frames of the cycle and writes them to the start of `buffer`, which must have the
  /// input's channel count and room for the frames. The caller keeps the buffer.
  @_noLocks
  public func render(into buffer: inout SampleBuffer) {
    frames.decode(from: 0, frames: frameCount, into: &buffer, at: 0)
  }

  /// Does the same, and returns the highest magnitude of the samples, where 1 is full scale, if the
  /// conversion finds it, as it does for most devices with 16 bits; otherwise infinity.
  @_noLocks
  package func renderMeasured(into buffer: inout SampleBuffer) -> Float {
    frames.decode(from: 0, frames: frameCount, into: &buffer, at: 0, measures: true)
  }
}

/// The frames of one cycle that the output plays next. The callback fills them. If it fills none,
/// silence is played. Audio thread.
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
  /// The number of frames to fill, at most a period.
  public let frameCount: Int
  /// The number of samples that were not a number (NaN). They are played as silence.
  public private(set) var nanCount = 0
  /// The number of frames that are played. It is below `frameCount` if the callback ended the run.
  private(set) var playedFrames: Int
  /// The number of frames until the unit ends, including those of this cycle. It is very large
  /// while the end is not known. A fade-out must be complete after that many frames.
  public let framesLeft: Int
  /// Whether the callback requested the end of the run with this cycle.
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

  /// The number of channels, which is the number of samples in a frame.
  public var channelCount: Int {
    @_noLocks get { room.layout.channelCount }
  }

  /// Plays the first `frameCount` frames of `buffer`, which must have the output's channel count.
  /// Samples beyond full scale are clipped.
  @_noLocks
  public mutating func play(_ buffer: borrowing SampleBuffer) {
    nanCount = room.encode(buffer, from: 0, frames: frameCount, at: 0)
    isFilled = true
  }

  /// Adds `count` samples to `nanCount` that were already replaced by silence before they were
  /// passed to `play`, which must be called first.
  @_noLocks
  package mutating func addSilenced(_ count: Int) {
    nanCount &+= count
  }

  /// Plays silence. No buffer of zeros is needed.
  @_noLocks
  public mutating func silence() {
    room.clear(from: 0, frames: frameCount)
    isFilled = true
  }

  /// Ends the run: only the first `frames` frames of this cycle are played, and no cycle follows.
  @_noLocks
  public mutating func end(after frames: Int) {
    playedFrames = max(0, min(frames, frameCount))
    isLast = true
  }

  /// Fills the cycle with silence if the callback filled nothing.
  @_noLocks
  mutating func complete() {
    if !isFilled { silence() }
  }
}

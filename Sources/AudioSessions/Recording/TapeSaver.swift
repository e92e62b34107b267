import AudioBasics
import AudioClocks
import AudioFiles
import RealtimeAudio

/// A stretch of a recording that was lost and is silence in the file.
public struct RecordingGap: Sendable, Equatable {
  /// The gap's first frame in the file.
  public var frame: Int
  /// Its length.
  public var frames: Int

  /// A gap of `frames` frames at `frame`.
  public init(frame: Int, frames: Int) {
    self.frame = frame
    self.frames = frames
  }
}

/// What became of a recording.
public struct RecordingReport: Sendable {
  /// Frames in the file, gaps included.
  public var frames = 0
  /// Every gap, in order.
  public var gaps: [RecordingGap] = []
  /// Each channel's highest magnitude.
  public var peaks: [Float] = []
  /// Loudness of the whole by ITU-R BS.1770; nil for silence.
  public var integratedLUFS: Double?
  /// Why it ended early, where it did.
  public var failure: FileFailure?

  /// Nothing recorded yet.
  public init() {}
}

/// The disk thread's half of a recording: winds the tape off into a sound file, puts silence where
/// frames were lost, and keeps the file's header true once a second.
public final class TapeSaver: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it, and the report is read after the last step.
  private var tape: SampleReader
  private var gaps: EventReader
  private var writer: SoundFileWriter?
  private var loudness: LoudnessMeter
  private var chunk: SampleBuffer
  private var silence: SampleBuffer
  private var pendingGap: TimelineEvent?
  private let headerFrames: Int
  private let window: TakeWindow
  private var shift: FrameShift?
  /// Frames of the tape that were wound off, gaps included.
  private var position = 0
  private var framesSinceHeader = 0
  private let hasFailed = Latch()

  /// What became of the recording; complete when `step` has answered false.
  public private(set) var report = RecordingReport()

  /// Saves what comes from the other end of `tape` and `gaps` to `writer`: all of it, or what lies
  /// within `window`, moved by the fraction of a frame that `shift` says.
  public init(
    tape: consuming SampleReader, gaps: consuming EventReader, writer: consuming SoundFileWriter,
    sampleRate: Int, channelCount: Int, window: TakeWindow = TakeWindow(),
    shift: consuming FrameShift? = nil
  ) {
    self.tape = tape
    self.window = window
    self.shift = shift
    self.gaps = gaps
    self.writer = consume writer
    loudness = LoudnessMeter(sampleRate: sampleRate, channelCount: channelCount)
    chunk = SampleBuffer(frameCount: 4096, channelCount: channelCount)
    silence = SampleBuffer(frameCount: 4096, channelCount: channelCount)
    headerFrames = sampleRate
  }

  /// Whether the file can take no more. Any thread.
  public var isFailed: Bool { hasFailed.isRaised }

  /// Saves what is on the tape now.
  public func step() -> Bool {
    guard report.failure == nil else { return false }
    do throws(FileFailure) {
      // In this order: what is on the tape after the end was announced is all there will be.
      let isLast = tape.isFinished
      try save(tape.available)
      guard isLast else { return true }
      try fillGap(before: .max)
      try finish()
    } catch {
      report.failure = error
      hasFailed.raise()
      try? finish()
    }
    return false
  }

  // The recorder's own end says when the tape is complete.
  /// Comes to an end at the next step.
  public func conclude() {}

  private func save(_ frames: Int) throws(FileFailure) {
    var rest = frames
    while rest > 0 {
      try fillGap(before: tape.frameCount)
      // Up to the next gap: it belongs between two frames.
      let gap = nextGap()
      let untilGap = gap.map { $0.frame - tape.frameCount } ?? .max
      let count = tape.read(into: &chunk, frames: min(rest, 4096, max(1, untilGap)))
      guard count > 0 else { return }
      try pass(&chunk, frames: count)
      rest -= count
    }
  }

  private func nextGap() -> TimelineEvent? {
    if pendingGap == nil { pendingGap = gaps.read() }
    return pendingGap
  }

  /// Puts down the silence of every gap at or before the tape's frame `position`.
  private func fillGap(before position: Int) throws(FileFailure) {
    while let gap = nextGap(), gap.frame <= position {
      pendingGap = nil
      tellGap(gap.frames)
      var rest = gap.frames
      while rest > 0 {
        let count = min(rest, silence.frameCount)
        silence.clear(frames: count)
        try pass(&silence, frames: count)
        rest -= count
      }
    }
  }

  /// Lists what of a gap at the present position lies within the file.
  private func tellGap(_ frames: Int) {
    let isShifted =
      switch shift {
      case .some: true
      case nil: false
      }
    let first = position + (isShifted ? FrameShift.delayFrames : 0)
    let lost = window.part(of: first, frames: frames)
    guard !lost.isEmpty else { return }
    report.gaps.append(
      RecordingGap(
        frame: first + lost.lowerBound - window.firstFrame, frames: lost.count))
  }

  /// Shifts the frames and writes those of them that belong into the file.
  private func pass(_ buffer: inout SampleBuffer, frames: Int) throws(FileFailure) {
    shift?.process(&buffer, frames: frames)
    let part = window.part(of: position, frames: frames)
    position += frames
    guard !part.isEmpty else { return }
    try writer?.write(buffer, from: part.lowerBound, frames: part.count)
    loudness.add(buffer, from: part.lowerBound, frames: part.count)
    report.frames += part.count
    framesSinceHeader += part.count
    guard framesSinceHeader >= headerFrames else { return }
    framesSinceHeader = 0
    try writer?.refreshHeader()
    try writer?.synchronize()
  }

  private func finish() throws(FileFailure) {
    report.peaks = loudness.samplePeaks
    report.integratedLUFS = loudness.integratedLUFS
    guard let writer = writer.take() else { return }
    try writer.finish()
  }
}

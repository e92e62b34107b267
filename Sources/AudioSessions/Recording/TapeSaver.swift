import AudioBasics
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
  private var framesSinceHeader = 0
  private let hasFailed = Latch()

  /// What became of the recording; complete when `step` has answered false.
  public private(set) var report = RecordingReport()

  /// Saves what comes from the other end of `tape` and `gaps` to `writer`.
  public init(
    tape: consuming SampleReader, gaps: consuming EventReader, writer: consuming SoundFileWriter,
    sampleRate: Int, channelCount: Int
  ) {
    self.tape = tape
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
      try write(chunk, frames: count)
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
      report.gaps.append(RecordingGap(frame: report.frames, frames: gap.frames))
      var rest = gap.frames
      while rest > 0 {
        let count = min(rest, silence.frameCount)
        try write(silence, frames: count)
        rest -= count
      }
    }
  }

  private func write(_ buffer: borrowing SampleBuffer, frames: Int) throws(FileFailure) {
    try writer?.write(buffer, frames: frames)
    loudness.add(buffer, frames: frames)
    report.frames += frames
    framesSinceHeader += frames
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

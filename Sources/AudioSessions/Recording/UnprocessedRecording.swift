import AudioBasics
import AudioFiles
import AudioLevels
import RealtimeAudio

/// The frames of a take as they came, kept beside what was made of them. Disk thread.
struct UnprocessedRecording: ~Copyable {
  private var series: FileSeries
  private var waiting: SampleWriter
  private var taken: SampleReader
  private var chunk: SampleBuffer

  /// Keeps them as `plan` says; at most `lookahead` frames wait to be kept or left out.
  init(_ plan: RecordingPlan, lookahead: Int, events: RecordingEvents) throws(FileFailure) {
    series = try FileSeries(plan, events: events)
    let ring = SampleWriter(frameCount: lookahead, channelCount: plan.channelCount)
    taken = ring.makeReader()
    waiting = ring
    chunk = SampleBuffer(frameCount: RecordingPipeline.chunkFrames, channelCount: plan.channelCount)
  }

  /// Hears the next frames.
  mutating func process(_ buffer: borrowing SampleBuffer, frames: Int) {
    _ = waiting.write(buffer, frames: frames)
  }

  /// Keeps the oldest frames it heard, or leaves them out.
  mutating func settle(_ frames: Int, isKept: Bool, start: UInt64) throws(FileFailure) {
    let count = taken.read(into: &chunk, frames: frames)
    if isKept { try series.write(chunk, frames: count, start: start) }
  }

  /// See `FileSeries`.
  mutating func refresh(synchronizing: Bool) throws(FileFailure) {
    try series.refresh(synchronizing: synchronizing)
  }

  /// Completes the file.
  mutating func finish() throws(FileFailure) {
    try series.finish(ProgrammeLevels.nothing)
  }
}

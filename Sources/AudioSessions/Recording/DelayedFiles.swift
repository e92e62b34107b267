import AudioBasics
import AudioFiles
import AudioLevels
import RealtimeAudio

/// The files of a recording behind a delay line, in which frames wait until the gate has decided about them.
/// What is decided at once is written from where it came. Disk thread.
struct DelayedFiles: ~Copyable {
  var series: FileSeries
  /// Measures what is written, where `isMeasured`.
  private(set) var loudness: LoudnessMeter
  private let isMeasured: Bool
  private let sampleRate: Int
  private var line: SampleWriter
  private var oldest: SampleReader
  /// Frames of the caller's buffer that wait before they are put into the line.
  private var latest = 0..<0

  /// Files as `plan` says, for which at most `frameCount` frames wait.
  init(
    _ plan: RecordingPlan, frameCount: Int, isMeasured: Bool, events: RecordingEvents
  ) throws(FileFailure) {
    series = try FileSeries(plan, events: events)
    let line = SampleWriter(frameCount: frameCount, channelCount: plan.channelCount)
    oldest = line.makeReader()
    self.line = line
    loudness = LoudnessMeter(sampleRate: plan.sampleRate, channelCount: plan.channelCount)
    self.isMeasured = isMeasured
    sampleRate = plan.sampleRate
  }

  /// The frames of `range` come next: they lie in the buffer that each call gets until `store`.
  mutating func append(_ range: Range<Int>) { latest = range }

  /// Puts into the line what still waits in `buffer`.
  mutating func store(_ buffer: borrowing SampleBuffer) {
    _ = line.write(buffer, from: latest.lowerBound, frames: latest.count)
    latest = 0..<0
  }

  /// Takes the oldest frames, at most `count`, and writes them where they are kept; the first was captured at
  /// `start` nanoseconds since 1970. Returns how many there were.
  mutating func take(
    _ count: Int, _ buffer: borrowing SampleBuffer, isKept: Bool, start: UInt64
  ) throws(FileFailure) -> Int {
    var done = try takeStored(count, isKept: isKept, start: start)
    let next = latest.prefix(count - done)
    latest = next.upperBound..<latest.upperBound
    if isKept, !next.isEmpty {
      let time = start &+ FrameTime.nanoseconds(of: done, at: sampleRate)
      try series.write(buffer, from: next.lowerBound, frames: next.count, start: time)
      if isMeasured { loudness.add(buffer, from: next.lowerBound, frames: next.count) }
    }
    done += next.count
    return done
  }

  /// The same for frames that are in the line.
  @discardableResult
  mutating func takeStored(_ count: Int, isKept: Bool, start: UInt64) throws(FileFailure) -> Int {
    var done = 0
    while true {
      let piece = oldest.piece(atMost: count - done)
      guard !piece.isEmpty else { return done }
      if isKept {
        let time = start &+ FrameTime.nanoseconds(of: done, at: sampleRate)
        try series.write(
          oldest.samples, from: piece.lowerBound, frames: piece.count, start: time)
        if isMeasured { loudness.add(oldest.samples, from: piece.lowerBound, frames: piece.count) }
      }
      oldest.skip(piece.count)
      done += piece.count
    }
  }
}

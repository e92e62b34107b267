import AudioBasics
import AudioFiles
import AudioLevels
import RealtimeAudio

/// The files of a recording after a delay line, in which frames wait until the gate has decided
/// about them. Frames that are decided at once are written directly from the caller's buffer. Disk
/// thread.
struct DelayedFiles: ~Copyable {
  var series: FileSeries
  /// The levels of the written frames.
  private(set) var levels: WrittenLevels
  private let sampleRate: Int
  private var line: SampleWriter
  private var oldest: SampleReader
  /// Frames of the caller's buffer that wait before they are put into the line.
  private var latest = 0..<0

  /// Creates files according to `plan`, for which at most `frameCount` frames wait. No file in
  /// `written` is overwritten.
  init(
    _ plan: RecordingPlan, frameCount: Int, events: RecordingEvents, written: WrittenFiles
  ) throws(FileFailure) {
    series = try FileSeries(plan, events: events, written: written)
    let line = SampleWriter(frameCount: frameCount, channelCount: plan.channelCount)
    oldest = line.makeReader()
    self.line = line
    levels = WrittenLevels(plan)
    sampleRate = plan.sampleRate
  }

  /// Appends the frames of `range`: they are in the buffer that is passed to each call until
  /// `store`.
  mutating func append(_ range: Range<Int>) { latest = range }

  /// Copies the frames that still wait in `buffer` into the line.
  mutating func store(_ buffer: borrowing SampleBuffer) {
    _ = line.write(buffer, from: latest.lowerBound, frames: latest.count)
    latest = 0..<0
  }

  /// Removes the oldest frames, at most `count`, and writes them if they are kept; the first was
  /// captured at `start`. `integers` contains the samples of `buffer` in 16 bits, or is empty.
  /// Returns the number of frames.
  mutating func take(
    _ count: Int, _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>, isKept: Bool,
    start: CaptureTime
  ) throws(FileFailure) -> Int {
    var done = try takeStored(count, isKept: isKept, start: start)
    let next = latest.prefix(count - done)
    latest = next.upperBound..<latest.upperBound
    if isKept, !next.isEmpty {
      let time = start.advanced(by: done, at: sampleRate)
      try series.write(buffer, integers, from: next.lowerBound, frames: next.count, start: time)
      levels.add(buffer, integers, next)
    }
    done += next.count
    return done
  }

  /// Removes and writes frames in the same way, but only those in the line.
  @discardableResult
  mutating func takeStored(_ count: Int, isKept: Bool, start: CaptureTime) throws(FileFailure)
    -> Int
  {
    var done = 0
    while true {
      let piece = oldest.piece(atMost: count - done)
      guard !piece.isEmpty else { return done }
      if isKept {
        let time = start.advanced(by: done, at: sampleRate)
        try series.write(
          oldest.samples, Span(), from: piece.lowerBound, frames: piece.count, start: time)
        levels.add(oldest.samples, Span(), piece)
      }
      oldest.skip(piece.count)
      done += piece.count
    }
  }
}

/// The levels of all frames that a recording has written so far, and whether they are silent. Disk
/// thread.
struct WrittenLevels: ~Copyable {
  /// The meter, if the plan requires it.
  private var loudness: LoudnessMeter?
  /// Whether all frames are digital silence.
  private(set) var isSilent = true

  /// Creates the levels of a recording according to `plan` in which nothing is written yet.
  init(_ plan: RecordingPlan) {
    loudness =
      plan.measuresLevels
      ? LoudnessMeter(sampleRate: plan.sampleRate, channelCount: plan.channelCount) : nil
  }

  /// The measured levels; `.nothing` if they are not measured.
  var programme: ProgrammeLevels {
    switch loudness {
    case .some(let meter): meter.levels
    case .none: .nothing
    }
  }

  /// Adds the frames of `range` of `buffer`. The check for silence uses `integers` unless it is
  /// empty.
  mutating func add(
    _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>, _ range: Range<Int>
  ) {
    loudness?.add(buffer, from: range.lowerBound, frames: range.count)
    // Silence is checked until the first sample that is not zero.
    guard isSilent else { return }
    if integers.isEmpty {
      isSilent = buffer.peak(from: range.lowerBound, frames: range.count) == 0
    } else {
      let width = buffer.channelCount
      for sample in range.lowerBound * width..<range.upperBound * width where integers[sample] != 0
      {
        isSilent = false
        return
      }
    }
  }
}

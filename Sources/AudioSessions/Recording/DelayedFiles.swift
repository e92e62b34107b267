import AudioBasics
import AudioFiles
import AudioLevels
import RealtimeAudio

/// The files of a recording behind a delay line, in which frames wait until the gate has decided
/// about them. What is decided at once is written from where it came. Disk thread.
struct DelayedFiles: ~Copyable {
  var series: FileSeries
  /// Levels of what was written.
  private(set) var levels: WrittenLevels
  private let sampleRate: Int
  private var line: SampleWriter
  private var oldest: SampleReader
  /// Frames of the caller's buffer that wait before they are put into the line.
  private var latest = 0..<0

  /// Files as `plan` says, for which at most `frameCount` frames wait.
  init(
    _ plan: RecordingPlan, frameCount: Int, events: RecordingEvents
  ) throws(FileFailure) {
    series = try FileSeries(plan, events: events)
    let line = SampleWriter(frameCount: frameCount, channelCount: plan.channelCount)
    oldest = line.makeReader()
    self.line = line
    levels = WrittenLevels(plan)
    sampleRate = plan.sampleRate
  }

  /// The frames of `range` come next: they lie in the buffer that each call gets until `store`.
  mutating func append(_ range: Range<Int>) { latest = range }

  /// Puts into the line what still waits in `buffer`.
  mutating func store(_ buffer: borrowing SampleBuffer) {
    _ = line.write(buffer, from: latest.lowerBound, frames: latest.count)
    latest = 0..<0
  }

  /// Takes the oldest frames, at most `count`, and writes them where they are kept; the first was
  /// captured at `start` nanoseconds since 1970. `words` are the samples of `buffer` in 16 bits, or
  /// none. Returns how many there were.
  mutating func take(
    _ count: Int, _ buffer: borrowing SampleBuffer, _ words: Span<Int16>, isKept: Bool,
    start: UInt64
  ) throws(FileFailure) -> Int {
    var done = try takeStored(count, isKept: isKept, start: start)
    let next = latest.prefix(count - done)
    latest = next.upperBound..<latest.upperBound
    if isKept, !next.isEmpty {
      let time = start &+ FrameTime.nanoseconds(of: done, at: sampleRate)
      try series.write(buffer, words, from: next.lowerBound, frames: next.count, start: time)
      levels.add(buffer, words, next)
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
          oldest.samples, Span(), from: piece.lowerBound, frames: piece.count, start: time)
        levels.add(oldest.samples, Span(), piece)
      }
      oldest.skip(piece.count)
      done += piece.count
    }
  }
}

/// The levels of what a recording has written so far, and whether it is silent. Disk thread.
struct WrittenLevels: ~Copyable {
  /// Measures it, where the plan says so.
  private var loudness: LoudnessMeter?
  /// Whether all of it is digital silence.
  private(set) var isSilent = true

  /// Nothing is written yet of a recording as `plan` says.
  init(_ plan: RecordingPlan) {
    loudness =
      plan.measuresLevels
      ? LoudnessMeter(sampleRate: plan.sampleRate, channelCount: plan.channelCount) : nil
  }

  /// Its levels; those of nothing where they are not measured.
  var programme: ProgrammeLevels {
    switch loudness {
    case .some(let meter): meter.levels
    case .none: .nothing
    }
  }

  /// Takes in the frames of `range` of `buffer`, or where nothing is measured of `words`, unless
  /// there are none.
  mutating func add(
    _ buffer: borrowing SampleBuffer, _ words: Span<Int16>, _ range: Range<Int>
  ) {
    loudness?.add(buffer, from: range.lowerBound, frames: range.count)
    // Looked at until the first sound.
    guard isSilent else { return }
    if words.isEmpty {
      isSilent = buffer.peak(from: range.lowerBound, frames: range.count) == 0
    } else {
      let width = buffer.channelCount
      for sample in range.lowerBound * width..<range.upperBound * width where words[sample] != 0 {
        isSilent = false
        return
      }
    }
  }
}

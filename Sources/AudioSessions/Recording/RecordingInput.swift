import AudioBasics
import AudioDevices
import AudioFiles

/// The frames that a recording receives: those of the capture ring and, if an echo must be removed,
/// the frames that were played at the same time. Passes them to the pipeline, from the ring's
/// memory if possible. Disk thread.
struct RecordingInput: ~Copyable {
  private var reader: RecordingReader
  private var playedReader: RecordingReader?
  private var chunk: SampleBuffer
  private var played: SampleBuffer?

  /// Creates the input of a recording of `channelCount` channels that reads the frames of
  /// `recorder`, and the frames of `echoReferenceRecorder`, which have `playedChannels` channels.
  init(
    of recorder: borrowing Recorder, channelCount: Int,
    echoReferenceRecorder: borrowing Recorder?, playedChannels: Int
  ) {
    reader = recorder.makeReader()
    chunk = SampleBuffer(frameCount: RecordingPipeline.chunkFrames, channelCount: channelCount)
    switch echoReferenceRecorder {
    case .some(let recorder):
      playedReader = recorder.makeReader()
      played = SampleBuffer(frameCount: RecordingPipeline.chunkFrames, channelCount: playedChannels)
    case .none:
      playedReader = nil
      played = nil
    }
  }

  /// Whether no frames will be added to the ring. Read this before the other members.
  var isFinished: Bool { reader.isFinished }

  /// The number of frames passed on, including gaps.
  var position: Int { reader.position }

  /// The number of captured frames that did not fit into the ring.
  var overflowFrames: Int { reader.overflowFrames }

  /// The recording's first frame on the unit's timeline; nil before it is captured.
  var firstFrame: Int? { reader.firstFrame }

  /// The time at which that frame was captured, as far as it is known now, in nanoseconds of the
  /// device's clock.
  var origin: Int { reader.origin }

  /// Returns a gap that begins at `position`, or nil; see `RecordingReader.takeGap`.
  mutating func takeGap(isLast: Bool) -> TimelineEvent? { reader.takeGap(isLast: isLast) }

  /// Returns the number of frames that can be passed on now. They wait for the frames played at the
  /// same time, unless they are the last ones.
  mutating func available(isLast: Bool) -> Int {
    guard playedReader != nil, !isLast else { return reader.available }
    skipPlayedGaps()
    return min(reader.available, playedReader?.available ?? 0)
  }

  /// Passes at most `frames` frames to `pipeline`; returns their number. Throws the pipeline's
  /// failure.
  mutating func pass(
    atMost frames: Int, to pipeline: inout RecordingPipeline
  ) throws(FileFailure) -> Int {
    let isChanged = pipeline.changesSamples || reader.isInGap
    return try isChanged ? passCopy(frames, &pipeline) : passMemory(frames, &pipeline)
  }

  /// Completes the files of `pipeline`. Throws its failure.
  mutating func finish(_ pipeline: inout RecordingPipeline) throws(FileFailure) {
    try pipeline.finish(&chunk)
  }

  private mutating func passCopy(
    _ frames: Int, _ pipeline: inout RecordingPipeline
  ) throws(FileFailure) -> Int {
    let count = reader.read(into: &chunk, frames: frames)
    guard count > 0 else { return 0 }
    fillPlayed(count)
    try pipeline.process(&chunk, played: played, frames: count)
    return count
  }

  private mutating func passMemory(
    _ frames: Int, _ pipeline: inout RecordingPipeline
  ) throws(FileFailure) -> Int {
    let piece = reader.piece(atMost: frames)
    defer { reader.skip(piece.count) }
    guard !piece.isEmpty else { return 0 }
    if reader.isSixteenBit {
      if pipeline.needsSamples { reader.copy(piece, into: &chunk) }
      try pipeline.record(chunk, reader.integers(of: piece), 0..<piece.count)
    } else {
      try pipeline.record(reader.samples, Span(), piece)
    }
    return piece.count
  }

  /// Reads `frames` played frames; silence follows the last one.
  private mutating func fillPlayed(_ frames: Int) {
    guard var buffer = played.take() else { return }
    var done = 0
    while done < frames {
      skipPlayedGaps()
      let count = playedReader?.read(into: &buffer, at: done, frames: frames - done) ?? 0
      guard count > 0 else { break }
      done += count
    }
    buffer.clear(from: done, frames: frames - done)
    played = consume buffer
  }

  /// Skips the gaps of the played frames, in which they are silence.
  private mutating func skipPlayedGaps() {
    while playedReader?.takeGap(isLast: false) != nil {}
  }
}

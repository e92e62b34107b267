import AudioBasics
import AudioClocks
import AudioFiles

/// The stream of a track's frames: read in playing order and in the unit's channels, then converted
/// to the unit's rate. Frames that already have this rate are read directly into the destination.
///
/// The last frames, which a converter cannot finish without the frames after them, are held back
/// while another track may follow.
struct TrackStream: ~Copyable {
  private var cursor: TrackCursor
  private var conversion: TrackConversion?
  private var progress = Progress()
  /// Frames at the file's rate, of which those in `progress.waiting` are not converted yet.
  private var decoded: SampleBuffer
  private var extrapolation = TrackExtrapolation()
  /// The number of samples that were NaN or infinite, and were replaced by silence.
  private(set) var nonFiniteCount = 0
  private let fileRate: Int
  private let sampleRate: Int
  /// Whether another track may follow.
  var isFollowed = false

  init(
    _ cursor: consuming TrackCursor, channelCount: Int, fileRate: Int, sampleRate: Int,
    conversion: consuming TrackConversion?
  ) {
    self.cursor = cursor
    self.conversion = conversion
    self.fileRate = fileRate
    self.sampleRate = sampleRate
    decoded = SampleBuffer(frameCount: 1024, channelCount: channelCount)
  }

  /// The path through the file.
  var path: PlayPath { cursor.path }

  /// The value of `TrackCursor.isElsewhere`.
  var isElsewhere: Bool { cursor.isElsewhere }

  /// The number of frames of the file per frame of the unit.
  var ratio: Double {
    switch conversion {
    case .some(let conversion): conversion.ratio
    case .none: 1
    }
  }

  /// The end of the track, in frames delivered since its converter was new.
  var endFrame: Int {
    Int(rounding: (Double(progress.decodedFrames) - progress.firstPosition) / ratio)
  }

  /// Whether all frames are read and delivered except for those held back.
  var holdsTail: Bool { progress.stage == .holding }

  /// Throws as `TrackCursor.check` does.
  func check(_ range: PlaybackRange, entry: Int) throws(FileFailure) {
    try cursor.check(range, entry: entry)
  }

  /// Starts again at the boundary `entry` with this range, through a new conversion that begins at
  /// the position `position` in frames. `check` must have accepted it.
  mutating func follow(
    _ range: PlaybackRange, entry: Int, conversion: consuming TrackConversion?, position: Double
  ) {
    cursor.follow(range, entry: entry)
    self.conversion = conversion
    extrapolation.forget()
    progress = Progress(firstPosition: position)
  }

  /// Lets the converter begin with frames that are predicted backwards from the first ones, because
  /// audio of another rate comes directly before this track. Must be called before the first read.
  mutating func beginAfterSound() { progress.followsSound = true }

  /// Takes over the converter of the previous track with the frames it holds back, so that the join
  /// is as smooth as in one file. Must be called before the first read. Returns false, without any
  /// change, if their rates differ.
  mutating func adopt(_ earlier: inout TrackStream) -> Bool {
    guard earlier.holdsTail, earlier.fileRate == fileRate, earlier.sampleRate == sampleRate,
      earlier.decoded.channelCount == decoded.channelCount, earlier.ratio == ratio
    else { return false }
    conversion = earlier.conversion.take()
    progress = Progress(after: earlier.progress)
    return true
  }

  /// Delivers the frames held back. They are followed by silence, or by audio of another rate if
  /// `beforeSound`.
  mutating func flushTail(beforeSound: Bool) {
    progress.stage = .flushing(beforeSound: beforeSound)
  }

  /// Fills `buffer` with at most `frames` frames and returns their number; 0 at the end, while the
  /// last frames are held back, and if a wait was interrupted.
  mutating func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    var done = 0
    while done < frames {
      let room = frames - done
      let count: Int
      do throws(FileFailure) {
        count =
          conversion == nil
          ? try copy(into: &buffer, at: done, room: room)
          : try convert(into: &buffer, at: done, room: room)
      } catch {
        // The frames before the failure are played first; the next read throws it again.
        guard done > 0 else { throw error }
        break
      }
      if count == 0 { break }
      progress.deliveredFrames += count
      done += count
    }
    return done
  }

  /// Reads at most `room` frames, which already have the unit's rate, into `buffer` from `target`
  /// on, and returns their number.
  private mutating func copy(
    into buffer: inout SampleBuffer, at target: Int, room: Int
  ) throws(FileFailure) -> Int {
    let count =
      progress.stage == .ended ? 0 : try cursor.read(into: &buffer, at: target, room: room)
    if !cursor.readsIntegers {
      nonFiniteCount += buffer.silenceNonFinite(from: target, frames: count)
    }
    progress.stage = count == 0 && !cursor.isInterrupted ? .ended : .reading
    progress.decodedFrames += count
    return count
  }

  /// Fills `buffer` from `target` on with at most `room` converted frames, and returns their
  /// number; 0 if `read` returns fewer frames than requested.
  private mutating func convert(
    into buffer: inout SampleBuffer, at target: Int, room: Int
  ) throws(FileFailure) -> Int {
    while true {
      if progress.waiting.isEmpty { try decode() }
      if progress.waiting.isEmpty || holdsTail { return 0 }
      // The output has as many frames as correspond to those of the file, and none of the silence
      // after them.
      let isAtEnd = progress.stage == .ended
      let room = isAtEnd ? min(room, endFrame - progress.deliveredFrames) : room
      if room <= 0 { return 0 }
      if progress.surplusFrames > 0 {
        // The converter still produces frames from predicted ones.
        let taken = conversion?.discard(
          &progress.surplusFrames, of: decoded, from: progress.waiting.lowerBound,
          frames: progress.waiting.count)
        progress.take(taken ?? 0)
      }
      let step = conversion?.convert(
        decoded, from: progress.waiting.lowerBound, frames: progress.waiting.count, into: &buffer,
        at: target, room: room)
      progress.take(step?.consumed ?? 0)
      if let produced = step?.produced, produced > 0 { return produced }
    }
  }

  /// Reads the next frames to be converted, or makes those after the end; none while the last
  /// frames are held back, and if the wait for them was interrupted.
  private mutating func decode() throws(FileFailure) {
    var count = 0
    if progress.stage != .ended {
      count = try cursor.read(into: &decoded, room: decoded.frameCount)
      if count == 0, cursor.isInterrupted { return }
    }
    progress.decodedFrames += count
    if count > 0 {
      inspect(count)
    } else {
      count = continueBeyondEnd()
    }
    progress.waiting = 0..<count
  }

  /// Replaces what the converter must not receive in `count` decoded frames, and predicts the
  /// frames before them if they are the first ones.
  private mutating func inspect(_ count: Int) {
    // A converter would spread such a sample over the length of its filter, or over a whole block.
    if !cursor.readsIntegers { nonFiniteCount += decoded.silenceNonFinite(frames: count) }
    guard conversion?.canExtrapolate == true else { return }
    if isFollowed { extrapolation.remember(decoded, frames: count) }
    if progress.followsSound { prime(count) }
  }

  /// Holds the last frames back if another track may follow. Otherwise, makes the frames after the
  /// end, which flush the last ones out of the converter. Returns their number.
  private mutating func continueBeyondEnd() -> Int {
    if progress.stage == .reading, isFollowed { progress.stage = .holding }
    if holdsTail { return 0 }
    decoded.clear(frames: decoded.frameCount)
    if progress.stage == .flushing(beforeSound: true), conversion?.canExtrapolate == true {
      extrapolation.extrapolate(into: &decoded)
    }
    progress.stage = .ended
    return decoded.frameCount
  }

  /// Feeds the converter with frames before the first ones, predicted backwards from these: whole
  /// steps of both rates, so that no position changes.
  private mutating func prime(_ count: Int) {
    progress.followsSound = false
    let steps = RateRatio(inputRate: fileRate, outputRate: sampleRate)
    guard steps.inputStep <= 4096 else { return }
    let earlier = TrackExtrapolation.past(of: decoded, frames: count, step: steps.inputStep)
    progress.surplusFrames = earlier.frameCount / steps.inputStep * steps.outputStep
    _ = conversion?.discard(
      &progress.surplusFrames, of: earlier, from: 0, frames: earlier.frameCount)
  }
}

/// How far a track is read, converted and delivered since its converter was new.
private struct Progress {
  /// The steps from the first frame to the last one.
  enum Stage: Equatable {
    case reading
    /// All frames are read and delivered except for those held back.
    case holding
    /// The frames held back are delivered next; `beforeSound` if audio of another rate comes after
    /// them: the frames of it that the converter needs are then predicted.
    case flushing(beforeSound: Bool)
    /// All is read: silence flushes the last frames out of the converter.
    case ended
  }

  var stage = Stage.reading
  /// The first position in frames read, and the numbers of frames read and delivered.
  let firstPosition: Double
  var decodedFrames = 0
  var deliveredFrames = 0
  /// The range of the decoded frames that are not converted yet.
  var waiting = 0..<0
  /// Whether audio of another rate comes directly before this track: the frames of it that the
  /// converter needs are then predicted.
  var followsSound = false
  /// The number of frames that the converter produces from predicted frames, which are not played.
  var surplusFrames = 0

  /// Begins with a new converter at this position in frames.
  init(firstPosition: Double = 0) {
    self.firstPosition = firstPosition
  }

  /// Continues with the converter of a track that has ended, which holds its last frames.
  init(after earlier: Progress) {
    firstPosition = earlier.firstPosition
    decodedFrames = earlier.decodedFrames
    deliveredFrames = earlier.deliveredFrames
    surplusFrames = earlier.surplusFrames
  }

  /// Removes the first `frames` frames that wait.
  mutating func take(_ frames: Int) {
    waiting = waiting.lowerBound + frames..<waiting.upperBound
  }
}

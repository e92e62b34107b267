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
  /// Frames at the file's rate, and the range of those not converted yet.
  private var decoded: SampleBuffer
  private var waiting = 0..<0
  /// Whether all is read: silence then flushes the last frames out of the converter.
  private var isAtEnd = false
  /// The numbers of frames read and delivered since the converter was new, and its first position
  /// in frames read.
  private var decodedFrames = 0
  private var deliveredFrames = 0
  private var firstPosition = 0.0
  /// The number of samples that were NaN or infinite, and were replaced by silence.
  private(set) var nonFiniteCount = 0
  private let fileRate: Int
  private let sampleRate: Int
  /// The number of frames of the file per frame of the unit.
  private(set) var ratio: Double

  /// Whether another track may follow.
  var isFollowed = false
  /// Whether the frames held back are being delivered.
  private var isFlushed = false
  /// Whether audio of another rate comes directly before this track or after it: the frames of it
  /// that the converter needs are then predicted.
  var followsSound = false
  private var extrapolatesEnd = false
  private var extrapolation = TrackExtrapolation()
  /// The number of frames that the converter produces from predicted frames, which are not played.
  private var surplusFrames = 0
  /// Whether all frames are read and delivered except for those held back.
  private(set) var holdsTail = false

  init(
    _ cursor: consuming TrackCursor, channelCount: Int, fileRate: Int, sampleRate: Int,
    conversion: consuming TrackConversion?
  ) {
    self.cursor = cursor
    self.conversion = conversion
    self.fileRate = fileRate
    self.sampleRate = sampleRate
    decoded = SampleBuffer(frameCount: 1024, channelCount: channelCount)
    ratio = Double(fileRate) / Double(sampleRate) * (self.conversion?.speed ?? 1)
  }

  /// The path through the file.
  var path: PlayPath { cursor.path }

  /// The value of `TrackCursor.isElsewhere`.
  var isElsewhere: Bool { cursor.isElsewhere }

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
    let speed = conversion?.speed ?? 1
    self.conversion = conversion
    ratio = Double(fileRate) / Double(sampleRate) * speed
    waiting = 0..<0
    isAtEnd = false
    decodedFrames = 0
    deliveredFrames = 0
    firstPosition = position
    followsSound = false
    extrapolatesEnd = false
    holdsTail = false
    isFlushed = false
    surplusFrames = 0
  }

  /// Fills `buffer` with at most `frames` frames and returns their number; 0 at the end, while the
  /// last frames are held back, and if a wait was interrupted.
  mutating func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    var done = 0
    while done < frames {
      let count: Int
      do throws(FileFailure) {
        count = try deliver(into: &buffer, at: done, room: frames - done)
      } catch {
        // The frames before the failure are played first; the next read throws it again.
        guard done > 0 else { throw error }
        break
      }
      if count == 0 { break }
      deliveredFrames += count
      done += count
    }
    return done
  }

  /// The end of the track, in frames delivered since its converter was new.
  var endFrame: Int { Int(rounding: (Double(decodedFrames) - firstPosition) / ratio) }

  /// Takes over the converter of the previous track with the frames it holds back, so that the join
  /// is as smooth as in one file. Must be called before the first read. Returns false, without any
  /// change, if their rates differ.
  mutating func adopt(_ earlier: inout TrackStream) -> Bool {
    guard earlier.holdsTail, earlier.fileRate == fileRate, earlier.sampleRate == sampleRate,
      earlier.decoded.channelCount == decoded.channelCount, earlier.ratio == ratio
    else { return false }
    conversion = earlier.conversion.take()
    followsSound = false
    decodedFrames = earlier.decodedFrames
    deliveredFrames = earlier.deliveredFrames
    firstPosition = earlier.firstPosition
    return true
  }

  /// Delivers the frames held back. They are followed by silence, or by audio of another rate if
  /// `beforeSound`.
  mutating func flushTail(beforeSound: Bool) {
    isFlushed = true
    holdsTail = false
    extrapolatesEnd = beforeSound
  }

  /// Reads the next frames to be converted; none if the wait for them was interrupted.
  private mutating func decode() throws(FileFailure) {
    var count = 0
    if !isAtEnd { count = try cursor.read(into: &decoded, room: decoded.frameCount) }
    decodedFrames += count
    if count == 0, !isAtEnd, cursor.isInterrupted { return }
    if count > 0 {
      // A converter would spread such a sample over the length of its filter, or over a whole
      // block.
      if !cursor.readsIntegers { nonFiniteCount += decoded.silenceNonFinite(frames: count) }
      if conversion?.canExtrapolate == true {
        if isFollowed { extrapolation.remember(decoded, frames: count) }
        if followsSound { prime(count) }
      }
    } else if isFollowed, !isFlushed, !isAtEnd {
      holdsTail = true
    } else {
      isAtEnd = true
      count = decoded.frameCount
      decoded.clear(frames: count)
      if extrapolatesEnd, conversion?.canExtrapolate == true {
        extrapolation.extrapolate(into: &decoded)
      }
      extrapolatesEnd = false
    }
    waiting = 0..<count
  }

  /// Feeds the converter with frames before the first ones, predicted backwards from these: whole
  /// steps of both rates, so that no position changes.
  private mutating func prime(_ count: Int) {
    followsSound = false
    let steps = RateRatio(inputRate: fileRate, outputRate: sampleRate)
    guard steps.inputStep <= 4096 else { return }
    let earlier = TrackExtrapolation.past(of: decoded, frames: count, step: steps.inputStep)
    surplusFrames = earlier.frameCount / steps.inputStep * steps.outputStep
    _ = Self.dropSurplus(
      &surplusFrames, &conversion, of: earlier, from: 0, frames: earlier.frameCount)
  }

  /// Converts, and discards the output as far as it is surplus. Returns the number of frames
  /// consumed.
  private static func dropSurplus(
    _ surplusFrames: inout Int, _ conversion: inout TrackConversion?,
    of sound: borrowing SampleBuffer, from first: Int, frames: Int
  ) -> Int {
    var scratch = SampleBuffer(frameCount: 1024, channelCount: sound.channelCount)
    var taken = 0
    while surplusFrames > 0, taken < frames {
      guard
        let progress = conversion?.convert(
          sound, from: first + taken, frames: frames - taken, into: &scratch, at: 0,
          room: min(surplusFrames, scratch.frameCount)),
        progress.consumed > 0 || progress.produced > 0
      else { break }
      taken += progress.consumed
      surplusFrames -= progress.produced
    }
    return taken
  }

  /// Fills `buffer` from `target` on with at most `room` frames, and returns their number; 0 if
  /// `read` returns fewer frames than requested.
  private mutating func deliver(
    into buffer: inout SampleBuffer, at target: Int, room: Int
  ) throws(FileFailure) -> Int {
    if conversion == nil {
      let count = isAtEnd ? 0 : try cursor.read(into: &buffer, at: target, room: room)
      if !cursor.readsIntegers {
        nonFiniteCount += buffer.silenceNonFinite(from: target, frames: count)
      }
      isAtEnd = count == 0 && !cursor.isInterrupted
      decodedFrames += count
      return count
    }
    while true {
      if waiting.isEmpty {
        try decode()
        if waiting.isEmpty, !holdsTail { return 0 }
      }
      // The output has as many frames as correspond to those of the file, and none of the silence
      // after them.
      let room = isAtEnd ? min(room, endFrame - deliveredFrames) : room
      if holdsTail || room <= 0 { return 0 }
      if surplusFrames > 0 {
        // The converter still produces frames from predicted ones.
        let taken = Self.dropSurplus(
          &surplusFrames, &conversion, of: decoded, from: waiting.lowerBound, frames: waiting.count)
        waiting = waiting.lowerBound + taken..<waiting.upperBound
      }
      let progress = conversion?.convert(
        decoded, from: waiting.lowerBound, frames: waiting.count, into: &buffer, at: target,
        room: room)
      waiting = waiting.lowerBound + (progress?.consumed ?? 0)..<waiting.upperBound
      if let produced = progress?.produced, produced > 0 { return produced }
    }
  }
}

/// The conversion from a file's rate, at a speed, to the unit's rate: at a fixed ratio for normal
/// speed, with bit-exact joins, and at any ratio for other speeds.
struct TrackConversion: ~Copyable {
  let inputRate: Int
  let outputRate: Int
  let speed: Double
  private var fixed: BlockRateConverter?
  private var varying: VariableRateConverter?

  /// Makes a conversion that begins with the first frame, or, at other speeds, at the position
  /// `position` in frames. Returns nil if no conversion is needed. Throws `.unusableContents` if
  /// the rates, or the number of frames read per frame played, are out of bounds.
  static func make(
    channelCount: Int, inputRate: Int, outputRate: Int, speed: Double, position: Double,
    quality: Int, name: String
  ) throws(FileFailure) -> TrackConversion? {
    guard inputRate != outputRate || speed != 1 else { return nil }
    let rates = RateConverter.supportedRates
    guard rates.contains(inputRate) else {
      throw FileFailure(
        .unusableContents, "\(name) has a rate of \(inputRate) Hz, which cannot be converted.",
        hint: "Convert it with sox first.")
    }
    guard rates.contains(outputRate) else {
      throw FileFailure(
        .unusableContents, "\(name) cannot be played at \(outputRate) Hz.",
        hint: "Play it at \(rates.boundsText) Hz.")
    }
    if speed != 1 {
      let ratio = Double(inputRate) / Double(outputRate) * speed
      let (slowest, fastest) = (TrackSettings.speeds.lowerBound, TrackSettings.speeds.upperBound)
      guard TrackSettings.speeds.contains(speed),
        ratio <= VariableRateConverter.supportedMaxima.upperBound
      else {
        throw FileFailure(
          .unusableContents,
          "\(name), at \(inputRate) Hz, cannot be played \(speed) times as fast at \(outputRate) Hz.",
          hint: TrackSettings.speeds.contains(speed)
            ? "Ask for a higher rate or a lower speed."
            : "Ask for a speed of \(slowest) to \(fastest).",
          remedy: .slowDown)
      }
      var varying = VariableRateConverter(
        channelCount: channelCount, maximumInputPerOutput: max(1, ratio))
      varying.setRatio(ratio)
      varying.reset(position: position)
      return TrackConversion(inputRate, outputRate, speed, nil, varying)
    }
    do throws(RateFailure) {
      let fixed = try BlockRateConverter(
        channelCount: channelCount, inputRate: inputRate, outputRate: outputRate, quality: quality)
      return TrackConversion(inputRate, outputRate, speed, fixed, nil)
    } catch {
      throw FileFailure(
        .unusableContents, "\(name) cannot be converted to \(outputRate) Hz: \(error.message)",
        hint: error.hint)
    }
  }

  private init(
    _ inputRate: Int, _ outputRate: Int, _ speed: Double, _ fixed: consuming BlockRateConverter?,
    _ varying: consuming VariableRateConverter?
  ) {
    self.inputRate = inputRate
    self.outputRate = outputRate
    self.speed = speed
    self.fixed = fixed
    self.varying = varying
  }

  /// Whether frames beyond a join may be predicted: at normal speed.
  var canExtrapolate: Bool { speed == 1 }

  /// Converts as `BlockRateConverter.convert` does.
  mutating func convert(
    _ input: borrowing SampleBuffer, from firstFrame: Int, frames: Int,
    into output: inout SampleBuffer, at target: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    if let progress = fixed?.convert(
      input, from: firstFrame, frames: frames, into: &output, at: target, room: room)
    {
      return progress
    }
    return varying?.convert(
      input, from: firstFrame, frames: frames, into: &output, at: target, room: room) ?? (0, 0)
  }
}

/// The samples that a converter needs beyond the edge of a track that joins audio of another rate:
/// predicted from the last frames before the edge, or from the first frames after it.
struct TrackExtrapolation: ~Copyable {
  /// The minimum number of predicted frames: more than the length of any filter in use.
  static let frames = 512

  /// The newest frames, allocated when they are first needed.
  private var recent = SampleBuffer(frameCount: 0, channelCount: 1)
  private var recentFrames = 0

  /// Keeps the newest frames, from which the following ones are predicted.
  mutating func remember(_ sound: borrowing SampleBuffer, frames count: Int) {
    if recent.frameCount == 0 {
      recent = SampleBuffer(frameCount: 1024, channelCount: sound.channelCount)
    }
    let kept = min(recentFrames, recent.frameCount - min(count, recent.frameCount))
    let channelCount = recent.channelCount
    for sample in 0..<kept * channelCount {
      recent[sample] = recent[(recentFrames - kept) * channelCount + sample]
    }
    let added = min(count, recent.frameCount - kept)
    recent.replace(at: kept, with: sound, from: count - added, frames: added)
    recentFrames = kept + added
  }

  /// Fills the beginning of `sound` with the prediction of the frames after the kept ones.
  func extrapolate(into sound: inout SampleBuffer) {
    guard recentFrames > 0 else { return }
    LinearExtrapolation.goOn(
      after: recent, frames: recentFrames, into: &sound, count: Self.frames)
  }

  /// Returns the prediction of the frames before the first `frames` frames of `sound`, in whole
  /// steps of `step` frames.
  static func past(
    of sound: borrowing SampleBuffer, frames: Int, step: Int
  ) -> SampleBuffer {
    let count = (Self.frames + step - 1) / step * step
    var earlier = SampleBuffer(frameCount: count, channelCount: sound.channelCount)
    LinearExtrapolation.goBack(before: sound, frames: frames, into: &earlier, count: count)
    return earlier
  }
}

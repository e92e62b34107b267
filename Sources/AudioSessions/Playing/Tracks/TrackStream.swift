import AudioBasics
import AudioClocks
import AudioFiles

/// A track's frames on their way: read in playing order, brought to the unit's channels, then to its
/// rate.
///
/// The last frames, which a converter cannot finish without knowing what comes next, are held back
/// while another track may follow.
struct TrackStream: ~Copyable {
  private var cursor: TrackCursor
  private var conversion: TrackConversion?
  /// Frames as the file has them.
  private var decoded: SampleBuffer
  /// The same frames with the unit's channels, and which of them still wait to be taken.
  private var mapped: SampleBuffer
  private let fold: StereoFold?
  private var waiting = 0..<0
  /// Silence that pushes the last frames out of the converter.
  private var isAtEnd = false
  /// Frames read, and delivered, since the converter was new; where it began, in frames read.
  private var decodedFrames = 0
  private var deliveredFrames = 0
  private var firstPosition = 0.0
  private let fileRate: Int
  private let sampleRate: Int
  /// Frames of the file a frame of the unit.
  private(set) var ratio: Double

  /// Whether another track may follow.
  var isFollowed = false
  /// Whether what was held back is given out.
  private var isReleased = false
  /// Whether another sound, of another rate, comes right before this one, or right behind it: what the
  /// converter must know of it is foretold then.
  var followsSound = false
  private var goesOn = false
  private var foretelling = TrackForetelling()
  /// Frames that the converter gives for what was foretold, and nobody hears.
  private var surplusFrames = 0
  /// Whether all is read and delivered but for what is held back.
  private(set) var isHolding = false

  init(
    _ cursor: consuming TrackCursor, channelCount: Int, fileChannelCount: Int, fileRate: Int,
    sampleRate: Int, conversion: consuming TrackConversion?
  ) {
    self.cursor = cursor
    self.conversion = conversion
    self.fileRate = fileRate
    self.sampleRate = sampleRate
    decoded = SampleBuffer(frameCount: 1024, channelCount: fileChannelCount)
    mapped = SampleBuffer(frameCount: 1024, channelCount: channelCount)
    fold = channelCount == 2 ? StereoFold(channelCount: fileChannelCount) : nil
    ratio = Double(fileRate) / Double(sampleRate) * (self.conversion?.speed ?? 1)
  }

  /// The way it takes through its file.
  var path: PlayPath { cursor.path }

  /// Begins anew at the boundary `entry` in this order, through a new conversion that begins at
  /// `position` frames of the first. Throws as `TrackCursor.follow` does, and then goes on as before.
  mutating func follow(
    _ order: PlayOrder, entry: Int, conversion: consuming TrackConversion?, position: Double
  ) throws(FileFailure) {
    try cursor.follow(order, entry: entry)
    let speed = conversion?.speed ?? 1
    self.conversion = conversion
    ratio = Double(fileRate) / Double(sampleRate) * speed
    waiting = 0..<0
    isAtEnd = false
    decodedFrames = 0
    deliveredFrames = 0
    firstPosition = position
    followsSound = false
    goesOn = false
    isHolding = false
    isReleased = false
    surplusFrames = 0
  }

  /// Fills `buffer` with at most `frames` frames and returns how many; 0 at the end, and while the
  /// last are held back.
  mutating func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    var done = 0
    while done < frames {
      do throws(FileFailure) {
        if waiting.isEmpty { try decode() }
      } catch {
        // What came before is heard first; the next read says so again.
        guard done > 0 else { throw error }
        break
      }
      if isHolding { break }
      var room = frames - done
      if isAtEnd {
        // As many frames as the file's come to, and none of the silence behind them.
        room = min(room, endFrame - deliveredFrames)
        if room <= 0 { break }
      }
      let count = deliver(into: &buffer, at: done, room: room)
      deliveredFrames += count
      done += count
    }
    return done
  }

  /// Where the track ends, in frames delivered since its converter was new.
  var endFrame: Int { Int(rounding: (Double(decodedFrames) - firstPosition) / ratio) }

  /// Takes over the converter of the track before, and what that holds back: the join is then as
  /// smooth as if both were one file. Before the first read. False where their rates differ, and
  /// nothing has happened.
  mutating func adopt(_ earlier: inout TrackStream) -> Bool {
    guard earlier.isHolding, earlier.fileRate == fileRate, earlier.sampleRate == sampleRate,
      earlier.mapped.channelCount == mapped.channelCount, earlier.ratio == ratio
    else { return false }
    conversion = earlier.conversion.take()
    followsSound = false
    decodedFrames = earlier.decodedFrames
    deliveredFrames = earlier.deliveredFrames
    firstPosition = earlier.firstPosition
    return true
  }

  /// Gives out what was held back. Silence is all that follows, or a sound of another rate.
  mutating func release(beforeSound: Bool) {
    isReleased = true
    isHolding = false
    goesOn = beforeSound
  }

  private mutating func decode() throws(FileFailure) {
    var count = 0
    if !isAtEnd { count = try cursor.read(into: &decoded) }
    decodedFrames += count
    if count > 0 {
      if let fold {
        fold.apply(decoded, frames: count, into: &mapped)
      } else {
        mapped.copy(decoded, frames: count)
      }
      if conversion?.foretells == true {
        if isFollowed { foretelling.remember(mapped, frames: count) }
        if followsSound { prime(count) }
      }
    } else if isFollowed, !isReleased, conversion != nil, !isAtEnd {
      isHolding = true
    } else {
      isAtEnd = true
      count = mapped.frameCount
      mapped.clear(frames: count)
      if goesOn, conversion?.foretells == true { foretelling.goOn(into: &mapped) }
      goesOn = false
    }
    waiting = 0..<count
  }

  /// Tells the converter what came before, foretold backwards from the first frames: whole steps of
  /// both rates, so that everything stays where it was.
  private mutating func prime(_ count: Int) {
    followsSound = false
    let steps = RateRatio(inputRate: fileRate, outputRate: sampleRate)
    guard steps.inputStep <= 4096 else { return }
    let earlier = TrackForetelling.past(of: mapped, frames: count, step: steps.inputStep)
    surplusFrames = earlier.frameCount / steps.inputStep * steps.outputStep
    _ = Self.dropSurplus(
      &surplusFrames, &conversion, of: earlier, from: 0, frames: earlier.frameCount)
  }

  /// Converts, and lets go what comes out, as far as that is surplus. Returns how many frames it took.
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

  private mutating func deliver(into buffer: inout SampleBuffer, at target: Int, room: Int) -> Int {
    if conversion == nil {
      let count = isAtEnd ? 0 : min(room, waiting.count)
      buffer.replace(at: target, with: mapped, from: waiting.lowerBound, frames: count)
      waiting = waiting.lowerBound + count..<waiting.upperBound
      return count
    }
    if surplusFrames > 0 {
      // What the converter still gives for foretold frames.
      let taken = Self.dropSurplus(
        &surplusFrames, &conversion, of: mapped, from: waiting.lowerBound, frames: waiting.count)
      waiting = waiting.lowerBound + taken..<waiting.upperBound
    }
    let progress = conversion?.convert(
      mapped, from: waiting.lowerBound, frames: waiting.count, into: &buffer, at: target,
      room: room)
    waiting = waiting.lowerBound + (progress?.consumed ?? 0)..<waiting.upperBound
    return progress?.produced ?? 0
  }
}

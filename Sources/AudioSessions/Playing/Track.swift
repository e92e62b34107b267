import AudioBasics
import AudioClocks
import AudioFiles

/// One sound file as the unit hears it: streamed from disk, converted to the unit's rate and
/// channels, at its gain. Never loaded whole.
public final class Track: FrameSource {
  private var cursor: TrackCursor
  private var converter: RateConverter?
  private let gain: Float
  /// Frames as the file has them.
  private var decoded: SampleBuffer
  /// The same frames with the unit's channels, and which of them still wait to be taken.
  private var mapped: SampleBuffer
  private var waiting = 0..<0
  /// Silence that pushes the last frames out of the converter.
  private var isAtEnd = false
  /// Frames that the file's own frames come to at the unit's rate, and how many were delivered.
  private var decodedFrames = 0
  private var deliveredFrames = 0
  private let ratio: Double
  private let sampleRate: Int
  /// Frames at the unit's rate that are still to be left out at the beginning.
  private var leadFrames = 0
  /// Frames at the unit's rate that are still to be delivered; nil for all.
  private var restFrames: Int?

  private let fileRate: Int
  private let isSeekable: Bool

  /// Whether another track may follow: then the last frames, which the converter cannot finish without
  /// knowing what comes next, are held back until it is clear.
  var isFollowed = false
  /// Whether another sound, of another rate, comes right before this one, or right behind it: what the
  /// converter must know of it is foretold then.
  var followsSound = false
  private var goesOn = false
  /// The last frames that were read, and how many.
  private var recent: SampleBuffer
  private var recentFrames = 0
  /// Frames that the converter gives for what was foretold, and nobody hears.
  private var surplusFrames = 0
  /// Whether all is read and delivered but for what is held back.
  private(set) var isHolding = false

  /// What the file is called.
  public let path: String
  /// Frames it has in all at the unit's rate, all times through; nil for ever, or where the file does
  /// not say.
  public let frameCount: Int?

  /// Opens `path` for a unit of this rate and these channels, to be played in `order`.
  public init(
    path: String, sampleRate: Int, channelCount: Int, gain: Float = 1,
    order: PlayOrder = PlayOrder(), resamplerQuality: Int = 5
  ) throws(FileFailure) {
    self.path = path
    self.gain = gain
    let file = try SoundFileReader(path: path)
    decoded = SampleBuffer(frameCount: 1024, channelCount: file.channelCount)
    mapped = SampleBuffer(frameCount: 1024, channelCount: channelCount)
    recent = SampleBuffer(frameCount: 1024, channelCount: channelCount)
    let fileRate = file.sampleRate
    self.fileRate = fileRate
    isSeekable = file.isSeekable
    self.sampleRate = sampleRate
    ratio = Double(sampleRate) / Double(fileRate)
    frameCount = order.frameCount(of: file.frameCount).map {
      Int((Double($0) * Double(sampleRate) / Double(fileRate)).rounded())
    }
    cursor = try TrackCursor(file, order)
    guard fileRate != sampleRate else { return }
    do throws(RateFailure) {
      converter = try RateConverter(
        channelCount: channelCount, inputRate: fileRate, outputRate: sampleRate,
        quality: resamplerQuality)
      converter?.skipLeadingSilence()
    } catch {
      throw FileFailure(
        .unusableContents, "\(path) has a rate of \(fileRate) Hz, which cannot be converted.",
        hint: "Convert it with sox first.")
    }
  }

  /// Leaves out all but `frames` frames (nil for all) from frame `start` on, both at the unit's rate.
  /// Before the first read. Throws as the file's `seek` does.
  public func narrow(from start: Int, frames: Int?) throws(FileFailure) {
    restFrames = frames
    leadFrames = start
    guard start > 0, isSeekable else { return }
    // Frames of the file that come to a whole number of frames of the unit, a twentieth of a second
    // early so that the converter has a past.
    let common = Self.greatestCommonDivisor(fileRate, sampleRate)
    let fileStep = fileRate / common
    let unitStep = sampleRate / common
    let early = fileRate == sampleRate ? 0 : sampleRate / 20
    let steps = max(0, start - early) / unitStep
    cursor = try TrackCursor(
      SoundFileReader(path: path), PlayOrder(startFrame: steps * fileStep))
    leadFrames = start - steps * unitStep
  }

  private static func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
    other == 0 ? one : greatestCommonDivisor(other, one % other)
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    while leadFrames > 0 {
      let count = try take(into: &buffer, frames: min(frames, leadFrames))
      guard count > 0 else { return 0 }
      leadFrames -= count
    }
    let count = try take(into: &buffer, frames: min(frames, restFrames ?? .max))
    if let rest = restFrames { restFrames = rest - count }
    return count
  }

  private func take(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    var done = 0
    while done < frames {
      if waiting.isEmpty { try decode() }
      if isHolding { break }
      var room = frames - done
      if isAtEnd {
        // As many frames as the file's come to, and none of the silence behind them.
        room = min(room, Int((Double(decodedFrames) * ratio).rounded()) - deliveredFrames)
        if room <= 0 { break }
      }
      let count = deliver(into: &buffer, at: done, room: room)
      deliveredFrames += count
      done += count
    }
    if gain != 1 { buffer.scale(frames: done, by: gain) }
    return done
  }

  /// Where the track ends, in frames delivered since its converter was new.
  var endFrame: Int { Int((Double(decodedFrames) * ratio).rounded()) }

  /// Takes over the converter of the track before, and what that holds back: the join is then as
  /// smooth as if both were one file. Before the first read. False where their rates differ, and
  /// nothing has happened.
  func adopt(_ earlier: Track) -> Bool {
    guard earlier.isHolding, earlier.fileRate == fileRate, earlier.sampleRate == sampleRate,
      earlier.mapped.channelCount == mapped.channelCount
    else { return false }
    converter = earlier.converter.take()
    followsSound = false
    decodedFrames = earlier.decodedFrames
    deliveredFrames = earlier.deliveredFrames
    return true
  }

  /// Gives out what was held back. Silence is all that follows, or a sound of another rate.
  func release(beforeSound: Bool) {
    isFollowed = false
    isHolding = false
    goesOn = beforeSound
  }

  private func decode() throws(FileFailure) {
    var count = 0
    if !isAtEnd {
      count = try cursor.read(into: &decoded)
    }
    decodedFrames += count
    if count > 0 {
      mapped.copy(decoded, frames: count)
      if converter != nil {
        if isFollowed { remember(count) }
        if followsSound { prime(count) }
      }
    } else if isFollowed, converter != nil, !isAtEnd {
      isHolding = true
    } else {
      isAtEnd = true
      count = mapped.frameCount
      mapped.clear(frames: count)
      if goesOn {
        goesOn = false
        LinearPrediction.goOn(after: recent, frames: recentFrames, into: &mapped, count: 512)
      }
    }
    waiting = 0..<count
  }

  /// Keeps the newest frames, by which what follows is foretold.
  private func remember(_ count: Int) {
    let kept = min(recentFrames, recent.frameCount - min(count, recent.frameCount))
    let channelCount = recent.channelCount
    for sample in 0..<kept * channelCount {
      recent[sample] = recent[(recentFrames - kept) * channelCount + sample]
    }
    let added = min(count, recent.frameCount - kept)
    recent.replace(at: kept, with: mapped, from: count - added, frames: added)
    recentFrames = kept + added
  }

  /// Tells the converter what came before, foretold backwards from the first frames: whole steps of
  /// both rates, so that everything stays where it was.
  private func prime(_ count: Int) {
    followsSound = false
    let common = Self.greatestCommonDivisor(fileRate, sampleRate)
    let step = fileRate / common
    guard step <= 4096 else { return }
    let steps = (512 + step - 1) / step
    var earlier = SampleBuffer(frameCount: steps * step, channelCount: mapped.channelCount)
    LinearPrediction.goBack(before: mapped, frames: count, into: &earlier, count: steps * step)
    surplusFrames = steps * sampleRate / common
    var scratch = SampleBuffer(frameCount: 1024, channelCount: mapped.channelCount)
    var fed = 0
    while fed < earlier.frameCount, surplusFrames > 0 {
      guard
        let progress = converter?.convert(
          earlier, from: fed, frames: earlier.frameCount - fed, into: &scratch,
          room: min(surplusFrames, scratch.frameCount)),
        progress.consumed > 0 || progress.produced > 0
      else { return }
      fed += progress.consumed
      surplusFrames -= progress.produced
    }
  }

  /// Lets what the converter still gives for foretold frames go.
  private func dropSurplus() {
    var scratch = SampleBuffer(frameCount: 1024, channelCount: mapped.channelCount)
    while surplusFrames > 0, !waiting.isEmpty {
      guard
        let progress = converter?.convert(
          mapped, from: waiting.lowerBound, frames: waiting.count, into: &scratch,
          room: min(surplusFrames, scratch.frameCount)),
        progress.consumed > 0 || progress.produced > 0
      else { return }
      waiting = waiting.lowerBound + progress.consumed..<waiting.upperBound
      surplusFrames -= progress.produced
    }
  }

  private func deliver(into buffer: inout SampleBuffer, at target: Int, room: Int) -> Int {
    if converter == nil {
      let count = isAtEnd ? 0 : min(room, waiting.count)
      buffer.replace(at: target, with: mapped, from: waiting.lowerBound, frames: count)
      waiting = waiting.lowerBound + count..<waiting.upperBound
      return count
    }
    if surplusFrames > 0 { dropSurplus() }
    let progress = converter?.convert(
      mapped, from: waiting.lowerBound, frames: waiting.count, into: &buffer, at: target,
      room: room)
    waiting = waiting.lowerBound + (progress?.consumed ?? 0)..<waiting.upperBound
    return progress?.produced ?? 0
  }
}

import AudioBasics
import AudioClocks
import AudioFiles

/// The settings with which a track is played: range, speed, gain, pan and resampler quality.
///
/// ```swift
/// var settings = TrackSettings(gain: Gain(decibels: -6))
/// settings.speed = 0.5
/// settings.range = PlaybackRange(startFrame: 24000, endFrame: 48000, times: 4)
/// let player = AudioPlayer()
/// player.enqueue(path: "song.flac", settings: settings)
/// ```
public struct TrackSettings: Sendable, Equatable {
  /// Which frames, in which direction and how often.
  public var range = PlaybackRange()
  /// How much faster than it was made, 0.25 to 4, and higher by as much. A track at another speed
  /// is refused.
  public var speed = 1.0
  /// By what its samples are multiplied.
  public var gain: Gain = .unity
  /// From -1, left only, to 1, right only: the other side gets softer. For outputs of two channels
  /// or more. A value beyond counts as the nearest, and what is no number as 0.
  public var pan: Float = 0 {
    didSet { pan = pan.isNaN ? 0 : min(max(pan, -1), 1) }
  }
  /// `BlockRateConverter`'s quality, 0 to 10, where the rate is converted.
  public var resamplerQuality = 5

  /// The speeds there are, 1 being as fast as it was made.
  public static let speeds = 0.25...4.0

  /// The whole, once, as it is.
  public init(
    range: PlaybackRange = PlaybackRange(), gain: Gain = .unity, resamplerQuality: Int = 5
  ) {
    self.range = range
    self.gain = gain
    self.resamplerQuality = resamplerQuality
  }
}

/// One decoder as the unit hears it: streamed, converted to the unit's rate and channels, at its
/// gain. Never loaded whole. One thread at a time.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// try await engine.record(to: "take.wav")
/// try await engine.run(seconds: 1)
/// let track = try TrackReader(path: "take.wav", sampleRate: 44100, channelCount: 2)
/// var buffer = SampleBuffer(frameCount: 1024, channelCount: 2)
/// var frames = 0
/// while true {
///   let count = try track.read(into: &buffer, frames: 1024)
///   if count == 0 { break }
///   frames += count
/// }
/// precondition(frames == 44100)
/// ```
public final class TrackReader: FrameSource {
  /// What is played.
  let decoder: any SoundDecoder
  /// The same, as a queue asks for it every few frames.
  let decoders: [any SoundDecoder]
  private(set) var settings: TrackSettings
  private var stream: TrackStream
  private let sampleRate: Int
  private let channelCount: Int
  /// Where the first frame that is heard lies.
  private(set) var positions: PositionMap
  /// How it goes on after `begin`.
  private var entry: TrackEntry?
  /// Frames at the unit's rate that are still to be left out at the beginning.
  private var leadFrames = 0
  /// Frames at the unit's rate that are still to be delivered; nil for all.
  private var restFrames: Int?

  /// What the file is called.
  public var path: String { decoder.name }
  /// Frames it has in all at the unit's rate, all times through; nil for ever, or where the file
  /// does not say.
  public let frameCount: Int?

  /// A track of what `decoder` gives, for a unit of this rate and these channels. Throws
  /// `.unusableContents` where the settings ask for what the decoder cannot do, or where one of the
  /// two does not have 1 to 1024 channels.
  public init(
    _ decoder: any SoundDecoder, sampleRate: Int, channelCount: Int,
    settings: TrackSettings = TrackSettings()
  ) throws(FileFailure) {
    guard (1...1024).contains(decoder.channelCount), (1...1024).contains(channelCount) else {
      throw FileFailure(
        .unusableContents,
        "\(decoder.name) with \(decoder.channelCount) channels cannot be played on \(channelCount).",
        hint: "Sound and unit have 1 to 1024 channels.")
    }
    let cursor = try TrackCursor(decoder, settings.range, channelCount: channelCount)
    let path = cursor.path
    let conversion = try TrackConversion.make(
      channelCount: channelCount, inputRate: decoder.sampleRate, outputRate: sampleRate,
      speed: settings.speed, position: 0, quality: settings.resamplerQuality, name: decoder.name)
    stream = TrackStream(
      cursor, channelCount: channelCount, fileRate: decoder.sampleRate, sampleRate: sampleRate,
      conversion: conversion)
    self.decoder = decoder
    decoders = [decoder]
    self.settings = settings
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    positions = PositionMap(path: path, firstIndex: 0, ratio: stream.ratio)
    frameCount = positions.frameCount
  }

  /// Opens the file `path` as a track. Throws where it cannot be opened or converted.
  public convenience init(
    path: String, sampleRate: Int, channelCount: Int, gain: Gain = .unity,
    range: PlaybackRange = PlaybackRange(), resamplerQuality: Int = 5
  ) throws(FileFailure) {
    try self.init(
      try Decoding.decoder(forPath: path), sampleRate: sampleRate, channelCount: channelCount,
      settings: TrackSettings(range: range, gain: gain, resamplerQuality: resamplerQuality))
  }

  /// How many samples of the file were NaN or infinite so far, and were replaced by silence before
  /// the file was converted to another rate or speed. It is read ahead of what is heard. Where
  /// nothing is converted they pass as they are.
  public var nonFiniteCount: Int { stream.nonFiniteCount }

  /// Leaves out all but `frames` frames (nil for all) from frame `start` on, both at the unit's
  /// rate. Before the first read. Throws as the file's `seek` does.
  public func narrow(from start: Int, frames: Int?) throws(FileFailure) {
    restFrames = frames
    guard decoder.supportsSeeking else {
      leadFrames = start
      return
    }
    guard start > 0 else { return }
    try begin(settings, at: Double(start) * stream.ratio)
  }

  /// Goes on at the boundary `place` of the file, which may lie between two frames, in these
  /// settings: what comes next is heard as if all had been played so from well before. Throws
  /// `.unusableContents` where the decoder cannot do that, and then goes on as before.
  func begin(_ settings: TrackSettings, at place: Double) throws(FileFailure) {
    try prepare(settings, at: place)
    enter()
  }

  /// Does all of `begin` that can fail; `enter` does the rest.
  func prepare(_ settings: TrackSettings, at place: Double) throws(FileFailure) {
    let fileRate = decoder.sampleRate
    let isReversed = settings.range.isReversed
    let end = decoder.knownEnd(isReversed: isReversed)
    // Behind the stretch it goes on at its beginning.
    let place = min(max(0, place), Double(PlayPath.mostFrames))
    let reached = PlayPath(settings.range, frameCount: end, entry: Int(rounding: place))
    let start = reached.entry == Int(rounding: place) ? place : Double(reached.entry)
    var boundary = Int(rounding: start)
    var position = 0.0
    var lead = 0
    if settings.speed != 1 {
      // More than the kernel reaches at any speed.
      let past = min(isReversed ? (end ?? 0) - boundary : boundary, 1024)
      boundary =
        Int(clamping: start.rounded(isReversed ? .up : .down)) + (isReversed ? past : -past)
      boundary = min(max(0, boundary), end ?? .max)
      position = abs(start - Double(boundary))
    } else if fileRate != sampleRate {
      let steps = RateRatio(inputRate: fileRate, outputRate: sampleRate)
      let entry = SeekPoint(
        at: start, isReversed: isReversed, frameCount: end,
        fileStep: steps.inputStep, unitStep: steps.outputStep,
        earlyFrames: BlockRateConverter.settlingFrames(
          quality: settings.resamplerQuality, inputRate: fileRate, outputRate: sampleRate))
      boundary = entry.boundary
      lead = entry.leadFrames
    }
    let conversion = try TrackConversion.make(
      channelCount: channelCount, inputRate: fileRate, outputRate: sampleRate,
      speed: settings.speed, position: position, quality: settings.resamplerQuality,
      name: decoder.name)
    try stream.check(settings.range, entry: boundary)
    entry = TrackEntry(
      settings: settings, boundary: boundary, position: position, leadFrames: lead,
      conversion: conversion)
  }

  /// Goes on as was prepared.
  func enter() {
    guard let entry = entry.take() else { return }
    settings = entry.settings
    leadFrames = entry.leadFrames
    let (boundary, position) = (entry.boundary, entry.position)
    stream.follow(
      settings.range, entry: boundary, conversion: entry.takeConversion(), position: position)
    let index = settings.speed != 1 ? position : Double(leadFrames) * stream.ratio
    positions = PositionMap(path: stream.path, firstIndex: index, ratio: stream.ratio)
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  /// Throws where the source cannot be read.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    while leadFrames > 0 {
      let count = try stream.read(
        into: &buffer, frames: min(frames, buffer.frameCount, leadFrames))
      guard count > 0 else { return 0 }
      leadFrames -= count
    }
    let count = try stream.read(into: &buffer, frames: min(frames, restFrames ?? .max))
    if let rest = restFrames { restFrames = rest - count }
    if settings.gain != .unity { buffer.scale(frames: count, by: settings.gain.factor) }
    if settings.pan != 0, channelCount > 1 {
      buffer.balance(
        frames: count, left: min(1, 1 - settings.pan), right: min(1, 1 + settings.pan))
    }
    return count
  }
}

/// The position in its file at which a track goes on, with its settings and its converter.
private struct TrackEntry: ~Copyable {
  let settings: TrackSettings
  /// The boundary of the file that is read first, and where between the frames behind it the sound
  /// begins.
  let boundary: Int
  let position: Double
  /// Frames of the unit that are left out.
  let leadFrames: Int
  let conversion: TrackConversion?

  consuming func takeConversion() -> TrackConversion? { conversion }
}

/// Joins with the track before and the one behind.
extension TrackReader {
  /// Whether another track may follow: then the last frames, which a converter cannot finish
  /// without knowing what comes next, are held back until it is clear.
  var isFollowed: Bool {
    get { stream.isFollowed }
    set { stream.isFollowed = newValue }
  }

  /// Whether another sound comes right before this one.
  var followsSound: Bool {
    get { stream.followsSound }
    set { stream.followsSound = newValue }
  }

  /// Whether all is read and delivered but for what is held back.
  var holdsTail: Bool { stream.holdsTail }

  /// As `TrackCursor.isElsewhere`.
  var isElsewhere: Bool { stream.isElsewhere }

  /// Where the track ends, in frames delivered since its converter was new.
  var endFrame: Int { stream.endFrame }

  /// As `TrackStream.adopt`.
  func adopt(_ earlier: TrackReader) -> Bool { stream.adopt(&earlier.stream) }

  /// As `TrackStream.flushTail`.
  func flushTail(beforeSound: Bool) { stream.flushTail(beforeSound: beforeSound) }
}

/// The position in the file of each frame of a track, in the order in which the frames are heard.
struct PositionMap: Sendable, Equatable {
  let path: PlayPath
  /// Where the first frame that is heard lies on the path, in frames of the file.
  let firstIndex: Double
  /// Frames of the file that one frame of the unit moves on by.
  let ratio: Double

  /// The boundary of the file that comes after `frames` frames of the unit.
  func boundary(after frames: Int) -> Double {
    let index = firstIndex + Double(frames) * ratio
    let whole = index.rounded(.down)
    let boundary = Double(path.boundary(at: Int(clamping: whole)))
    return path.range.isReversed ? boundary - (index - whole) : boundary + (index - whole)
  }

  /// The order with the passes left out that are over after `frames` frames of the unit.
  func range(after frames: Int) -> PlaybackRange {
    var range = path.range
    let passes = path.passes(before: Int(clamping: firstIndex + Double(frames) * ratio))
    range.times = range.times.map { max(1, $0 - passes) }
    return range
  }

  /// Frames of the unit until the file's `boundary` is come to in the first pass; nil where that is
  /// not ahead.
  func frames(until boundary: Int) -> Int? {
    guard (0...PlayPath.mostFrames).contains(boundary) else { return nil }
    let index = path.range.isReversed ? path.entry - boundary : boundary - path.entry
    guard index >= 0, path.firstLength.map({ index <= $0 }) ?? true else { return nil }
    let frames = ((Double(index) - firstIndex) / ratio).rounded()
    return frames >= 0 ? Int(clamping: frames) : nil
  }

  /// Frames of the unit in all; nil for ever, or where that is not known.
  var frameCount: Int? {
    path.frameCount.map { max(0, Int(rounding: (Double($0) - firstIndex) / ratio)) }
  }
}

/// The position at which a track's converter begins, so that the first frame that is heard lies
/// exactly where it was asked for: some frames earlier, which give the converter's filter a past.
struct SeekPoint {
  /// The boundary of the file that is read first.
  let boundary: Int
  /// Frames of the unit that are left out.
  let leadFrames: Int

  /// The entry for a converter whose rates have the ratio `fileStep` to `unitStep` in lowest terms,
  /// so that what is heard begins at `place`, a boundary of a file of `frameCount` frames,
  /// backwards or forwards. At least `earlyFrames` frames of the unit are left out where there are
  /// that many.
  init(
    at place: Double, isReversed: Bool, frameCount: Int?, fileStep: Int, unitStep: Int,
    earlyFrames: Int
  ) {
    let ratio = Double(fileStep) / Double(unitStep)
    let past = isReversed ? Double(frameCount ?? Int(clamping: place)) - place : place
    let longest = max(0, Int(clamping: past / ratio))
    // Among a whole round of the two rates one place falls on a frame of the file.
    let round = min(unitStep, 4096)
    let latest = min(longest, earlyFrames + round)
    var best = (lead: 0, error: Double.infinity)
    for lead in stride(from: latest, through: max(0, latest - round), by: -1) {
      let exact = isReversed ? place + Double(lead) * ratio : place - Double(lead) * ratio
      let error = abs(exact - exact.rounded())
      if error < best.error - 1e-6 { best = (lead, error) }
      if error < 1e-6 { break }
    }
    leadFrames = best.lead
    let exact =
      isReversed ? place + Double(best.lead) * ratio : place - Double(best.lead) * ratio
    boundary = max(0, Int(rounding: exact))
  }
}

import AudioBasics
import AudioClocks
import AudioFiles

/// The frames of one decoder in the form the unit plays: streamed, converted to the unit's rate and
/// channels, with the track's gain applied. Never loaded as a whole. One thread at a time.
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
  /// The decoder that is played.
  let decoder: any SoundDecoder
  /// The same decoder in an array, which a queue reads every few frames.
  let decoders: [any SoundDecoder]
  private(set) var settings: TrackSettings
  private var stream: TrackStream
  private let sampleRate: Int
  private let channelCount: Int
  /// The positions of the played frames in the file.
  private(set) var positions: PositionMap
  /// The prepared continuation for `begin`.
  private var entry: TrackEntry?
  /// The number of frames at the unit's rate still to be skipped at the beginning.
  private var leadFrames = 0
  /// The number of frames at the unit's rate still to be delivered; nil for all.
  private var restFrames: Int?

  /// The name of the file.
  public var path: String { decoder.name }
  /// The total number of frames at the unit's rate, with all repetitions; nil if they never end, or
  /// if the length of the file is unknown.
  public let frameCount: Int?

  /// Creates a track of `decoder` for a unit of this rate and number of channels. Throws
  /// `.unusableContents` if the settings require a capability that the decoder lacks, or if one of
  /// the two does not have 1 to 1024 channels.
  public init(
    _ decoder: any SoundDecoder, sampleRate: Int, channelCount: Int,
    settings: TrackSettings = TrackSettings()
  ) throws(FileFailure) {
    let channels = 1...SampleBuffer.maximumChannels
    guard channels.contains(decoder.channelCount), channels.contains(channelCount) else {
      throw FileFailure(
        .unusableContents,
        "\(decoder.name) with \(decoder.channelCount.counted("channel")) cannot be played on \(channelCount).",
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

  /// Opens the file `path` as a track. Throws if it cannot be opened or converted.
  public convenience init(
    path: String, sampleRate: Int, channelCount: Int, gain: Gain = .unity,
    range: PlaybackRange = PlaybackRange(), resamplerQuality: Int = 5
  ) throws(FileFailure) {
    try self.init(
      try Decoding.decoder(forPath: path), sampleRate: sampleRate, channelCount: channelCount,
      settings: TrackSettings(range: range, gain: gain, resamplerQuality: resamplerQuality))
  }

  /// The number of samples of the file so far that were NaN or infinite, and were replaced by
  /// silence. The file is read ahead of the playback.
  public var nonFiniteCount: Int { stream.nonFiniteCount }

  /// Skips all but `frames` frames (nil for all) from frame `start` on, both at the unit's rate.
  /// From the end of the track on there are none. Must be called before the first read. Throws as
  /// the file's `seek` does.
  public func narrow(from start: Int, frames: Int?) throws(FileFailure) {
    restFrames = frames.map { max(0, $0) }
    guard start > 0 else { return }
    if let frameCount, start >= frameCount {
      restFrames = 0
      return
    }
    // Only frames of a track that is its whole file are at the same place in the file.
    guard decoder.supportsSeeking, settings.range == PlaybackRange(), settings.speed == 1 else {
      leadFrames = start
      return
    }
    try begin(settings, at: Double(start) * stream.ratio)
  }

  /// Continues at the boundary `sourceFrame` of the file, which may be between two frames, with
  /// these settings: the output is the same as if the settings had applied from well before. Throws
  /// `.unusableContents` if the decoder does not support this, and then continues as before.
  func begin(_ settings: TrackSettings, at sourceFrame: Double) throws(FileFailure) {
    try prepare(settings, at: sourceFrame)
    enter()
  }

  /// Executes all steps of `begin` that can fail; `enter` executes the rest.
  func prepare(_ settings: TrackSettings, at sourceFrame: Double) throws(FileFailure) {
    let fileRate = decoder.sampleRate
    let isReversed = settings.range.isReversed
    let end = decoder.knownEnd(isReversed: isReversed)
    // After the end of the range the playback continues at its beginning.
    let sourceFrame = min(max(0, sourceFrame), Double(PlayPath.maximumFrames))
    let reached = PlayPath(settings.range, frameCount: end, entry: Int(rounding: sourceFrame))
    let start = reached.entry == Int(rounding: sourceFrame) ? sourceFrame : Double(reached.entry)
    var boundary = Int(rounding: start)
    var position = 0.0
    var lead = 0
    if settings.speed != 1 {
      // More than the length of the kernel at any speed.
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

  /// Continues with the prepared entry.
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

  /// Fills the start of `buffer` and returns the number of frames; 0 at the end. Throws if the
  /// source cannot be read.
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

/// The position in its file at which a track continues, with its settings and its converter.
private struct TrackEntry: ~Copyable {
  let settings: TrackSettings
  /// The boundary of the file that is read first, and the position after it, in frames, at which
  /// the audio begins.
  let boundary: Int
  let position: Double
  /// The number of frames of the unit that are skipped.
  let leadFrames: Int
  let conversion: TrackConversion?

  consuming func takeConversion() -> TrackConversion? { conversion }
}

/// The joins with the previous track and the next one.
extension TrackReader {
  /// Whether another track may follow. In this case the last frames, which a converter cannot
  /// finish without the frames after them, are held back until that is clear.
  var isFollowed: Bool {
    get { stream.isFollowed }
    set { stream.isFollowed = newValue }
  }

  /// Whether all frames are read and delivered except for those held back.
  var holdsTail: Bool { stream.holdsTail }

  /// The value of `TrackCursor.isElsewhere`.
  var isElsewhere: Bool { stream.isElsewhere }

  /// The end of the track, in frames delivered since its converter was new.
  var endFrame: Int { stream.endFrame }

  /// Calls `TrackStream.beginAfterSound`.
  func beginAfterSound() { stream.beginAfterSound() }

  /// Calls `TrackStream.adopt`.
  func adopt(_ earlier: TrackReader) -> Bool { stream.adopt(&earlier.stream) }

  /// Calls `TrackStream.flushTail`.
  func flushTail(beforeSound: Bool) { stream.flushTail(beforeSound: beforeSound) }
}

/// The position in the file of each frame of a track, in playing order.
struct PositionMap: Sendable, Equatable {
  let path: PlayPath
  /// The position of the first played frame on the path, in frames of the file.
  let firstIndex: Double
  /// The number of frames of the file per frame of the unit.
  let ratio: Double

  /// Returns the boundary of the file after `frames` frames of the unit.
  func boundary(after frames: Int) -> Double {
    let index = firstIndex + Double(frames) * ratio
    let whole = index.rounded(.down)
    let boundary = Double(path.boundary(at: Int(clamping: whole)))
    return path.range.isReversed ? boundary - (index - whole) : boundary + (index - whole)
  }

  /// Returns the range without the passes that are over after `frames` frames of the unit.
  func range(after frames: Int) -> PlaybackRange {
    var range = path.range
    let passes = path.passes(before: Int(clamping: firstIndex + Double(frames) * ratio))
    range.times = range.times.map { max(1, $0 - passes) }
    return range
  }

  /// Returns the number of frames of the unit until the file's `boundary` is reached in the first
  /// pass; nil if it is not ahead.
  func frames(until boundary: Int) -> Int? {
    guard (0...PlayPath.maximumFrames).contains(boundary) else { return nil }
    let index = path.range.isReversed ? path.entry - boundary : boundary - path.entry
    guard index >= 0, path.firstLength.map({ index <= $0 }) ?? true else { return nil }
    let frames = ((Double(index) - firstIndex) / ratio).rounded()
    return frames >= 0 ? Int(clamping: frames) : nil
  }

  /// The total number of frames of the unit; nil if they never end, or if it is unknown.
  var frameCount: Int? {
    path.frameCount.map { max(0, Int(rounding: (Double($0) - firstIndex) / ratio)) }
  }
}

/// The position at which a track's converter begins, so that the first played frame is exactly at
/// the requested position: some frames earlier, which fill the converter's filter.
struct SeekPoint {
  /// The boundary of the file that is read first.
  let boundary: Int
  /// The number of frames of the unit that are skipped.
  let leadFrames: Int

  /// Creates the entry for a converter whose rates have the ratio `fileStep` to `unitStep` in
  /// lowest terms, so that the playback begins at `sourceFrame`, a boundary of a file of
  /// `frameCount` frames, backwards or forwards. At least `earlyFrames` frames of the unit are
  /// skipped, or as many as there are.
  init(
    at sourceFrame: Double, isReversed: Bool, frameCount: Int?, fileStep: Int, unitStep: Int,
    earlyFrames: Int
  ) {
    let ratio = Double(fileStep) / Double(unitStep)
    let past =
      isReversed ? Double(frameCount ?? Int(clamping: sourceFrame)) - sourceFrame : sourceFrame
    let longest = max(0, Int(clamping: past / ratio))
    // Within a whole cycle of the two rates, one position coincides with a frame of the file.
    let round = min(unitStep, 4096)
    let latest = min(longest, earlyFrames + round)
    var best = (lead: 0, error: Double.infinity)
    func position(_ lead: Int) -> Double {
      sourceFrame + Double(lead) * (isReversed ? ratio : -ratio)
    }
    for lead in stride(from: latest, through: max(0, latest - round), by: -1) {
      let error = abs(position(lead) - position(lead).rounded())
      if error < best.error - 1e-6 { best = (lead, error) }
      if error < 1e-6 { break }
    }
    leadFrames = best.lead
    boundary = max(0, Int(rounding: position(best.lead)))
  }
}

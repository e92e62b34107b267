import AudioFiles

/// Which frames of a file are played, in which direction and how often.
public struct PlaybackRange: Sendable, Equatable {
  /// The first frame of the stretch, at the file's own rate.
  public var startFrame: Int
  /// The frame behind its last; nil for the file's end.
  public var endFrame: Int?
  /// How often the stretch is played; nil for ever.
  public var times: Int?
  /// Whether it is played from its last frame to its first.
  public var isReversed: Bool

  /// The stretch from `startFrame` to before `endFrame`, `times` times; the whole, once, by
  /// default.
  public init(
    startFrame: Int = 0, endFrame: Int? = nil, times: Int? = 1, isReversed: Bool = false
  ) {
    self.startFrame = max(0, startFrame)
    self.endFrame = endFrame
    self.times = times
    self.isReversed = isReversed
  }
}

/// The way through a file for a playback range: a first pass, which may begin anywhere, then whole
/// passes over the stretch. Counts frames in the order in which they are played.
///
/// A boundary is a place between two frames: that before frame 0 is 0. Forwards the frame behind it
/// comes next, backwards the frame before it.
struct PlayPath: Sendable, Equatable {
  /// Frames beyond which nothing is believed to go: 46 years at 768 kHz. At a quarter of the speed
  /// and from 8 kHz to 768 kHz they become 2^59, so that sums of ten still fit in an `Int`.
  static let mostFrames = 1 << 50

  let range: PlaybackRange
  /// The stretch; its end is nil where the file does not say how long it is.
  let start: Int
  private(set) var end: Int?
  /// Where the first pass begins.
  let entry: Int

  /// The way through a file of `frameCount` frames that begins at the boundary `entry`, or at the
  /// stretch's own beginning where that is nil or lies behind it.
  init(_ range: PlaybackRange, frameCount: Int?, entry: Int? = nil) {
    var range = range
    range.startFrame = min(max(0, range.startFrame), Self.mostFrames)
    range.endFrame = range.endFrame.map { min(max(0, $0), Self.mostFrames) }
    self.range = range
    let frameCount = frameCount.map { min(max(0, $0), Self.mostFrames) }
    start = min(range.startFrame, frameCount ?? Self.mostFrames)
    end = [frameCount, range.endFrame].compactMap { $0 }.min().map { [start] in max($0, start) }
    let first = range.isReversed ? end ?? 0 : start
    let wanted = entry ?? first
    let isBehind = range.isReversed ? wanted <= start : end.map { wanted >= $0 } ?? false
    self.entry = isBehind ? first : min(max(0, wanted), frameCount ?? Self.mostFrames)
  }

  /// The way through what `decoder` gives.
  init(_ range: PlaybackRange, through decoder: any SoundDecoder, entry: Int? = nil) {
    let end = decoder.knownEnd(isReversed: range.isReversed)
    self.init(range, frameCount: end, entry: entry)
  }

  /// Frames of a whole pass.
  var length: Int? { end.map { $0 - start } }

  /// Frames of the first pass.
  var firstLength: Int? {
    range.isReversed ? entry - start : end.map { $0 - entry }
  }

  /// Frames of all passes; nil for ever, for more than can be counted, or where that is not known.
  var frameCount: Int? {
    guard let times = range.times, let length, let firstLength else { return nil }
    guard times > 0 else { return 0 }
    let (further, isEndless) = (times - 1).multipliedReportingOverflow(by: length)
    guard !isEndless, further <= Self.mostFrames - firstLength else { return nil }
    return firstLength + further
  }

  /// The boundary before the frame `index`, counted in playing order.
  func boundary(at index: Int) -> Int {
    let (_, inside, isFirst) = place(of: index)
    if range.isReversed { return (isFirst ? entry : end ?? 0) - inside }
    return (isFirst ? entry : start) + inside
  }

  /// Passes that are over before the frame `index`.
  func passes(before index: Int) -> Int { place(of: index).passes }

  private func place(of index: Int) -> (passes: Int, inside: Int, isFirst: Bool) {
    guard let firstLength, index >= firstLength, let length, length > 0 else {
      return (0, index, true)
    }
    let rest = index - firstLength
    let passes = 1 + rest / length
    // At the very end no further pass begins.
    if let times = range.times, passes >= times {
      return times > 1 ? (times - 1, length, false) : (0, firstLength, true)
    }
    return (passes, rest % length, false)
  }

  /// The file ended before it said.
  mutating func shorten(to end: Int) {
    self.end = max(start, end)
  }
}

extension SoundDecoder {
  /// Behind its last frame; nil where that is not known. Where it only estimates its length reading
  /// on tells, but for the way backwards, which begins there.
  func knownEnd(isReversed: Bool) -> Int? {
    isLengthEstimated && !isReversed ? nil : frameCount
  }
}

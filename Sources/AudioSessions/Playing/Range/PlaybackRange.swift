import AudioFiles

/// The range of a file that is played, its direction, and the number of repetitions.
public struct PlaybackRange: Sendable, Equatable {
  /// The first frame of the range, at the file's own rate.
  public var startFrame: Int
  /// The frame after the last one; nil for the end of the file.
  public var endFrame: Int?
  /// The number of times the range is played; nil to repeat it forever.
  public var times: Int?
  /// Whether the range is played from its last frame to its first.
  public var isReversed: Bool

  /// Creates a range from `startFrame` to before `endFrame` that is played `times` times; by
  /// default the whole file once.
  public init(
    startFrame: Int = 0, endFrame: Int? = nil, times: Int? = 1, isReversed: Bool = false
  ) {
    self.startFrame = max(0, startFrame)
    self.endFrame = endFrame
    self.times = times
    self.isReversed = isReversed
  }
}

/// The path through a file for a playback range: a first pass, which may begin anywhere, then whole
/// passes over the range. It counts frames in playing order.
///
/// A boundary is a position between two frames: the boundary before frame 0 is 0. In forward
/// direction the frame after it is next, in reverse direction the frame before it.
struct PlayPath: Sendable, Equatable {
  /// The largest number of frames accepted: 46 years at 768 kHz. At a quarter of the speed and from
  /// 8 kHz to 768 kHz it becomes 2^59, so that sums of ten still fit in an `Int`.
  static let maximumFrames = 1 << 50

  let range: PlaybackRange
  /// The range; its end is nil if the length of the file is unknown.
  let start: Int
  private(set) var end: Int?
  /// The boundary at which the first pass begins.
  let entry: Int

  /// Creates the path through a file of `frameCount` frames that begins at the boundary `entry`, or
  /// at the beginning of the range if `entry` is nil or past the range. A path without a pass stays
  /// at `entry`.
  init(_ range: PlaybackRange, frameCount: Int?, entry: Int? = nil) {
    var range = range
    range.startFrame = min(max(0, range.startFrame), Self.maximumFrames)
    range.endFrame = range.endFrame.map { min(max(0, $0), Self.maximumFrames) }
    self.range = range
    let frameCount = frameCount.map { min(max(0, $0), Self.maximumFrames) }
    start = min(range.startFrame, frameCount ?? Self.maximumFrames)
    end = [frameCount, range.endFrame].compactMap { $0 }.min().map { [start] in max($0, start) }
    let first = range.isReversed ? end ?? 0 : start
    let wanted = entry ?? first
    let isBehind = range.isReversed ? wanted <= start : end.map { wanted >= $0 } ?? false
    let restarts = isBehind && (entry == nil || (range.times ?? 1) > 0)
    self.entry = restarts ? first : min(max(0, wanted), frameCount ?? Self.maximumFrames)
  }

  /// Creates the path through the frames of `decoder`.
  init(_ range: PlaybackRange, through decoder: any SoundDecoder, entry: Int? = nil) {
    let end = decoder.knownEnd(isReversed: range.isReversed)
    self.init(range, frameCount: end, entry: entry)
  }

  /// The number of frames of a whole pass.
  var length: Int? { end.map { $0 - start } }

  /// The number of frames of the first pass.
  var firstLength: Int? {
    range.isReversed ? entry - start : end.map { $0 - entry }
  }

  /// The number of frames of all passes; nil if they never end, if there are more than can be
  /// counted, or if it is unknown.
  var frameCount: Int? {
    guard let times = range.times, let length, let firstLength else { return nil }
    guard times > 0 else { return 0 }
    let (further, isEndless) = (times - 1).multipliedReportingOverflow(by: length)
    guard !isEndless, further <= Self.maximumFrames - firstLength else { return nil }
    return firstLength + further
  }

  /// Returns the boundary before the frame `index`, counted in playing order.
  func boundary(at index: Int) -> Int {
    let (_, inside, isFirst) = position(of: index)
    if range.isReversed { return (isFirst ? entry : end ?? 0) - inside }
    return (isFirst ? entry : start) + inside
  }

  /// Returns the number of passes that are over before the frame `index`.
  func passes(before index: Int) -> Int { position(of: index).passes }

  private func position(of index: Int) -> (passes: Int, inside: Int, isFirst: Bool) {
    guard let firstLength, index >= firstLength, let length, length > 0 else {
      return (0, index, true)
    }
    let rest = index - firstLength
    let passes = 1 + rest / length
    // No further pass begins at the very end.
    if let times = range.times, passes >= times {
      return times > 1 ? (times - 1, length, false) : (0, firstLength, true)
    }
    return (passes, rest % length, false)
  }

  /// Sets the end of a file that ended before its stated length.
  mutating func shorten(to end: Int) {
    self.end = max(start, end)
  }
}

extension SoundDecoder {
  /// Returns the boundary after the last frame; nil if it is unknown. If the length is only
  /// estimated, the end is found by reading, except in reverse direction, which begins there.
  func knownEnd(isReversed: Bool) -> Int? {
    isLengthEstimated && !isReversed ? nil : frameCount
  }
}

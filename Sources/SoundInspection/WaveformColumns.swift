import AudioBasics

/// Audio of any length as columns of an image: the extreme samples in each column, and its power.
///
/// If the length is unknown, columns are joined in pairs whenever there are too many.
public struct WaveformColumns: Sendable {
  /// The extreme samples and the power of one channel in one column.
  public struct Column: Sendable, Equatable {
    /// The lowest sample.
    public var lowest: Float = 0
    /// The highest sample.
    public var highest: Float = 0
    /// The sum of the squares of all samples.
    var squares: Double = 0
    var frames = 0

    /// The root mean square (RMS) of the samples.
    public var rms: Double { frames > 0 ? (squares / Double(frames)).squareRoot() : 0 }

    mutating func join(_ other: Column) {
      lowest = min(lowest, other.lowest)
      highest = max(highest, other.highest)
      squares += other.squares
      frames += other.frames
    }
  }

  /// The columns of each channel.
  public private(set) var channels: [[Column]]
  /// The number of frames in a column.
  public private(set) var framesPerColumn: Int
  private let limit: Int
  /// The number of frames in the last column so far.
  private var filled = 0

  /// Creates `width` columns for audio of `frameCount` frames; up to twice as many if the length is
  /// unknown or wrong.
  public init(width: Int, frameCount: Int?, channelCount: Int) {
    limit = 2 * width
    framesPerColumn = max(1, ((frameCount ?? 0) + width - 1) / width)
    channels = Array(repeating: [], count: channelCount)
  }

  /// Adds the first `count` frames of `buffer`.
  public mutating func add(_ buffer: borrowing SampleBuffer, frames count: Int) {
    var done = 0
    while done < count {
      if filled == 0 || filled == framesPerColumn { begin() }
      let now = min(count - done, framesPerColumn - filled)
      for channel in channels.indices { add(buffer, channel, from: done, frames: now) }
      filled += now
      done += now
    }
  }

  private mutating func begin() {
    if channels.first.map({ $0.count >= limit }) ?? false { halve() }
    filled = 0
    for channel in channels.indices { channels[channel].append(Column()) }
  }

  /// Joins columns in pairs. Their number is even.
  private mutating func halve() {
    for channel in channels.indices {
      var joined: [Column] = []
      joined.reserveCapacity(limit)
      for (index, column) in channels[channel].enumerated() {
        if index % 2 == 0 { joined.append(column) } else { joined[index / 2].join(column) }
      }
      channels[channel] = joined
    }
    framesPerColumn *= 2
  }

  private mutating func add(
    _ buffer: borrowing SampleBuffer, _ channel: Int, from first: Int, frames count: Int
  ) {
    let samples = buffer.samples
    let stride = buffer.channelCount
    var (lowest, highest): (Float, Float) = (.infinity, -.infinity)
    var squares: Float = 0
    var sum = 0.0
    var index = first * stride + channel
    for frame in 0..<count {
      let sample = samples[index]
      index += stride
      lowest = sample < lowest ? sample : lowest
      highest = sample > highest ? sample : highest
      squares += sample * sample
      // Single precision is sufficient for this many frames.
      if frame & 1023 == 1023 {
        sum += Double(squares)
        squares = 0
      }
    }
    sum += Double(squares)
    // NaN and infinite samples are not drawn.
    guard lowest <= highest, sum.isFinite else { return }
    let last = channels[channel].count - 1
    let isFirst = channels[channel][last].frames == 0
    let column = Column(lowest: lowest, highest: highest, squares: sum, frames: count)
    if isFirst { channels[channel][last] = column } else { channels[channel][last].join(column) }
  }
}

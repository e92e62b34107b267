import AudioBasics
import AudioSpectra
import Glibc

/// The power of a sound by time and frequency, as columns of a picture.
public struct Spectrogram: Sendable {
  /// Rows from 0 Hz to half the rate, evenly.
  public let rowCount: Int
  /// Channels that are drawn.
  public let channelCount: Int
  /// Frames in a column.
  public let framesPerColumn: Int
  fileprivate let columns: [Column]

  /// Columns that there are.
  public var columnCount: Int { columns.count }

  /// The power in a column and a row, 1 being that of a sine of full scale.
  public func power(channel: Int, column: Int, row: Int) -> Float {
    let column = columns[column]
    return column.count > 0 ? column.powers[channel * rowCount + row] / column.count : 0
  }

  /// With the channels of `other`, a spectrogram of the same sound, behind its own.
  func beside(_ other: Spectrogram) -> Spectrogram {
    Spectrogram(
      rowCount: rowCount, channelCount: channelCount + other.channelCount,
      framesPerColumn: framesPerColumn,
      columns: zip(columns, other.columns).map { own, others in
        Column(count: own.count, powers: own.powers + others.powers)
      })
  }

  /// The powers of the transforms whose middles lie in one column.
  fileprivate struct Column {
    /// The number of transforms.
    var count: Float = 0
    /// Their sums, row by row, channel by channel.
    var powers: [Float]

    mutating func join(_ other: Column) {
      count += other.count
      for index in powers.indices { powers[index] += other.powers[index] }
    }
  }
}

/// Works out the spectrogram of all of a sound, whatever its length, in the memory of the picture.
struct SpectrogramColumns: ~Copyable {
  /// Frames of a transform: 43 ms at 48 kHz.
  static let length = 2048

  /// Rows of each channel.
  private let rowCount: Int
  /// Frames in a column.
  private var framesPerColumn: Int
  /// Channels that are drawn, and the first of them.
  private let channelCount: Int
  private let firstChannel: Int

  private let limit: Int
  private let transform: FourierTransform
  private let window: [Float]
  /// The last frames of each channel, the oldest at `oldest`.
  private var recent: [Float]
  private var oldest = 0
  /// Frames until the next transform.
  private var untilNext: Int
  private var hop: Int
  private var frames = 0
  private var windowed: [Float]
  private var bins: [ComplexFloat]
  private var columns: [Spectrogram.Column] = []

  /// Columns of a sound of `frameCount` frames, `width` of them, up to twice as many where its
  /// length is not known; `rowCount` rows for each of `channels`. Nil where memory is short.
  init?(width: Int, frameCount: Int?, rowCount: Int, channels: Range<Int>) {
    guard let transform = FourierTransform(atLeast: Self.length) else { return nil }
    limit = 2 * width
    framesPerColumn = max(1, ((frameCount ?? 0) + width - 1) / width)
    self.rowCount = rowCount
    channelCount = channels.count
    firstChannel = channels.lowerBound
    let length = transform.length
    // Hann's window; a sine of full scale is then 0 dB.
    let scale = 4 / Float(length)
    let window = (0..<length).map { index in
      scale * (0.5 - 0.5 * Float(cos(2 * Double.pi * Double(index) / Double(length))))
    }
    self.window = window
    recent = [Float](repeating: 0, count: length * channelCount)
    windowed = [Float](repeating: 0, count: length)
    bins = [ComplexFloat](repeating: ComplexFloat(0, 0), count: transform.binCount)
    hop = min(length, framesPerColumn)
    untilNext = hop
    self.transform = transform
  }

  /// Adds the first `count` frames of `buffer`.
  mutating func add(_ buffer: borrowing SampleBuffer, frames count: Int) {
    var done = 0
    while done < count {
      let now = min(count - done, untilNext, window.count - oldest)
      for channel in 0..<channelCount { keep(buffer, channel, from: done, frames: now) }
      pass(now)
      done += now
    }
  }

  /// The sound is over: what is in the middle of no window yet is followed by silence.
  mutating func finish() -> Spectrogram {
    let end = frames
    var left = window.count / 2
    while left > 0 {
      let now = min(left, untilNext, window.count - oldest)
      for channel in 0..<channelCount {
        let first = channel * window.count + oldest
        for index in first..<first + now { recent[index] = 0 }
      }
      pass(now)
      left -= now
    }
    let columnCount = (end + framesPerColumn - 1) / framesPerColumn
    return Spectrogram(
      rowCount: rowCount, channelCount: channelCount, framesPerColumn: framesPerColumn,
      columns: Array(columns.prefix(columnCount)))
  }

  private mutating func keep(
    _ buffer: borrowing SampleBuffer, _ channel: Int, from first: Int, frames count: Int
  ) {
    let samples = buffer.samples
    let stride = buffer.channelCount
    var index = first * stride + firstChannel + channel
    let start = channel * window.count + oldest
    // Of its own, so that it is asked only once whether it is shared.
    var kept: [Float] = []
    swap(&kept, &recent)
    for place in start..<start + count {
      let sample = samples[index]
      kept[place] = sample.isFinite ? sample : 0
      index += stride
    }
    swap(&kept, &recent)
  }

  private mutating func pass(_ count: Int) {
    oldest = (oldest + count) % window.count
    frames += count
    untilNext -= count
    guard untilNext == 0 else { return }
    untilNext = hop
    // What lies in the window's middle.
    let middle = frames - window.count / 2
    guard middle >= 0 else { return }
    var column = middle / framesPerColumn
    while column >= limit {
      halve()
      column = middle / framesPerColumn
    }
    while columns.count <= column {
      let silence = [Float](repeating: 0, count: channelCount * rowCount)
      columns.append(Spectrogram.Column(powers: silence))
    }
    columns[column].count += 1
    for channel in 0..<channelCount { add(channel, to: column) }
  }

  private mutating func add(_ channel: Int, to column: Int) {
    let start = channel * window.count
    let (oldest, head) = (oldest, window.count - oldest)
    // Of its own, so that it is asked only once whether it is shared.
    var target: [Float] = []
    swap(&target, &windowed)
    let (kept, factors) = (recent, window)
    for index in 0..<head { target[index] = kept[start + oldest + index] * factors[index] }
    for index in head..<factors.count {
      target[index] = kept[start + index - head] * factors[index]
    }
    swap(&target, &windowed)
    transform.spectrum(of: windowed, into: &bins)
    let first = channel * rowCount
    let perRow = (bins.count - 1) / rowCount
    var sums: [Float] = []
    swap(&sums, &columns[column].powers)
    let spectrum = bins
    for row in 0..<rowCount {
      var highest: Float = 0
      // The loudest of several, so that a tone has its level.
      for bin in max(1, row * perRow)..<(row + 1) * perRow + 1 {
        let power = spectrum[bin].power
        highest = power > highest ? power : highest
      }
      sums[first + row] += highest
    }
    swap(&sums, &columns[column].powers)
  }

  /// Joins columns in pairs.
  private mutating func halve() {
    var joined: [Spectrogram.Column] = []
    for (index, column) in columns.enumerated() {
      if index % 2 == 0 { joined.append(column) } else { joined[index / 2].join(column) }
    }
    columns = joined
    framesPerColumn *= 2
    hop = min(window.count, framesPerColumn)
    untilNext = hop
  }
}

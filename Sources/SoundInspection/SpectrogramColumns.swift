import AudioBasics
import AudioSpectra
import Glibc

/// The power of audio by time and frequency, as the columns of an image.
public struct Spectrogram: Sendable {
  /// The number of rows, which divide the range from 0 Hz to half the sample rate evenly.
  public let rowCount: Int
  /// The number of channels that are drawn.
  public let channelCount: Int
  /// The number of frames in a column.
  public let framesPerColumn: Int
  fileprivate let columns: [Column]

  /// The number of columns.
  public var columnCount: Int { columns.count }

  /// Returns the power in a column and a row, relative to that of a full-scale sine.
  public func power(channel: Int, column: Int, row: Int) -> Float {
    let column = columns[column]
    return column.count > 0 ? column.powers[channel * rowCount + row] / column.count : 0
  }

  /// Returns this spectrogram with the channels of `other`, a spectrogram of the same audio,
  /// appended.
  func beside(_ other: Spectrogram) -> Spectrogram {
    Spectrogram(
      rowCount: rowCount, channelCount: channelCount + other.channelCount,
      framesPerColumn: framesPerColumn,
      columns: zip(columns, other.columns).map { own, others in
        Column(count: own.count, powers: own.powers + others.powers)
      })
  }

  /// The powers of the transforms whose centres are in one column.
  fileprivate struct Column {
    /// The number of transforms.
    var count: Float = 0
    /// The sums of the powers, row by row, channel by channel.
    var powers: [Float]

    mutating func join(_ other: Column) {
      count += other.count
      for index in powers.indices { powers[index] += other.powers[index] }
    }
  }
}

/// Computes the spectrogram of audio of any length, in memory proportional to the image.
struct SpectrogramColumns: ~Copyable {
  /// The number of frames in a transform: 43 ms at 48 kHz.
  static let length = 2048

  /// The number of rows of each channel.
  private let rowCount: Int
  /// The number of frames in a column.
  private var framesPerColumn: Int
  /// The number of channels that are drawn, and the index of the first of them.
  private let channelCount: Int
  private let firstChannel: Int

  private let limit: Int
  private let transform: FourierTransform
  private let window: [Float]
  /// The last frames of each channel. The oldest one is at `oldest`.
  private var recent: [Float]
  private var oldest = 0
  /// The number of frames until the next transform.
  private var untilNext: Int
  private var hop: Int
  private var frames = 0
  private var windowed: [Float]
  private var bins: [ComplexFloat]
  private var columns: [Spectrogram.Column] = []

  /// Creates `width` columns for audio of `frameCount` frames, or up to twice as many if the length
  /// is unknown, with `rowCount` rows for each of `channels`. Nil if memory is short.
  init?(width: Int, frameCount: Int?, rowCount: Int, channels: Range<Int>) {
    guard let transform = FourierTransform(atLeast: Self.length) else { return nil }
    limit = 2 * width
    framesPerColumn = max(1, ((frameCount ?? 0) + width - 1) / width)
    self.rowCount = rowCount
    channelCount = channels.count
    firstChannel = channels.lowerBound
    let length = transform.length
    // A Hann window, scaled so that a full-scale sine has 0 dB.
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

  /// Ends the audio and returns the spectrogram. Silence is added until the last frames have been
  /// in the centre of a window.
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
    // A local variable, so that the array's unique ownership is checked only once.
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
    // The position of the centre of the window.
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
    // A local variable, so that the array's unique ownership is checked only once.
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
      // The maximum of several bins, so that a tone is drawn with its level.
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

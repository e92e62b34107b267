import CairoDrawing
import Glibc
import SoundInspection

/// The title of an audio picture: file name, length, rate and channels.
public struct SoundTitle: Sendable {
  /// The name of the file.
  public var name: String
  /// The number of frames that are drawn.
  public var frames: Int
  /// The rate in frames per second.
  public var sampleRate: Int
  /// The number of channels of the file. Some of them may not be drawn.
  public var channelCount: Int

  /// Creates a title of these parts.
  public init(name: String, frames: Int, sampleRate: Int, channelCount: Int) {
    self.name = name
    self.frames = frames
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }
}

/// A waveform: peaks, and within them the RMS level, of each channel.
public enum WaveformPicture {
  /// Returns the picture as the contents of a file. Throws if Cairo is missing or memory is
  /// insufficient.
  public static func bytes(
    _ waveform: WaveformColumns, _ title: SoundTitle, _ format: PictureFormat
  ) throws(DrawingFailure) -> [UInt8] {
    var canvas = try Canvas(format, width: SoundFrame.width, height: SoundFrame.height)
    let frame = SoundFrame(title: title, panelCount: waveform.channels.count)
    for (channel, columns) in waveform.channels.enumerated() {
      frame.drawLevels(channel, on: &canvas)
      guard !columns.isEmpty else { continue }
      let panel = frame.panel(channel)
      // Column by column, so that the last column, which may be shorter, ends where the audio does.
      func shape(_ bounds: [(low: Double, high: Double)]) -> [(x: Double, y: Double)] {
        var upper: [(x: Double, y: Double)] = []
        var lower: [(x: Double, y: Double)] = []
        for (index, (low, high)) in bounds.enumerated() {
          for x in [index, index + 1].map({ frame.x(ofFrame: $0 * waveform.framesPerColumn) }) {
            // The shape is never thinner than a line.
            upper.append((x, panel.position(of: high) - 0.4))
            lower.append((x, panel.position(of: low) + 0.4))
          }
        }
        return upper + lower.reversed()
      }
      canvas.fill(
        shape(columns.map { (Double($0.lowest), Double($0.highest)) }), Colour(0x9BB8D3))
      canvas.fill(shape(columns.map { (-$0.rms, $0.rms) }), Colour(0x1F4E79))
    }
    frame.draw(on: &canvas)
    return try canvas.finish()
  }
}

/// A spectrogram: power by time and frequency. 0 dBFS is a sine of full scale.
public enum SpectrogramPicture {
  /// The lowest level that is drawn. Lower levels get the same colour.
  private static let floorDBFS = -120.0

  /// Returns the picture as the contents of a file. Throws if Cairo is missing or memory is
  /// insufficient.
  public static func bytes(
    _ spectrogram: Spectrogram, _ title: SoundTitle, _ format: PictureFormat
  ) throws(DrawingFailure) -> [UInt8] {
    var canvas = try Canvas(format, width: SoundFrame.width, height: SoundFrame.height)
    let frame = SoundFrame(title: title, panelCount: spectrogram.channelCount)
    let scale = ColourScale()
    let columns = spectrogram.columnCount
    // The last column may extend beyond the end.
    let covered = Double(columns * spectrogram.framesPerColumn)
    let width = SoundFrame.plotWidth * covered / Double(max(1, title.frames))
    for channel in 0..<spectrogram.channelCount {
      let panel = frame.panel(channel)
      canvas.draw(
        pixels(spectrogram, channel, scale), columns: columns, x: SoundFrame.left, y: panel.end,
        width: width, height: panel.start - panel.end)
      frame.drawFrequencies(channel, on: &canvas)
    }
    // The part of the last column that extends beyond the plot is covered.
    canvas.fill(
      x: SoundFrame.right, y: 0, width: SoundFrame.width - SoundFrame.right,
      height: SoundFrame.height, Colour(0xFFFFFF))
    drawScale(scale, on: &canvas)
    frame.draw(on: &canvas)
    return try canvas.finish()
  }

  private static func pixels(
    _ spectrogram: Spectrogram, _ channel: Int, _ scale: ColourScale
  ) -> [UInt32] {
    let (columns, rows) = (spectrogram.columnCount, spectrogram.rowCount)
    var pixels = [UInt32](repeating: 0, count: columns * rows)
    for row in 0..<rows {
      for column in 0..<columns {
        let power = spectrogram.power(channel: channel, column: column, row: row)
        let level = power > 0 ? 10 * log10(Double(power)) : floorDBFS
        let share = min(max(1 - level / floorDBFS, 0), 1)
        // The lowest frequency is at the bottom.
        pixels[(rows - 1 - row) * columns + column] = scale.pixels[Int(rounding: share * 255)]
      }
    }
    return pixels
  }

  /// Draws the colour scale with its levels.
  private static func drawScale(_ scale: ColourScale, on canvas: inout Canvas) {
    let (left, top, width) = (SoundFrame.right - 420, 14.0, 300.0)
    canvas.draw(scale.pixels, columns: 256, x: left, y: top, width: width, height: 10)
    for (share, label) in [(0.0, "\u{2212}120"), (0.5, "\u{2212}60"), (1, "0")] {
      canvas.write(
        label, x: left + share * width, y: top + 24, size: 11, alignment: 0.5, SoundFrame.ink)
    }
    canvas.write("dBFS", x: left + width + 14, y: top + 10, size: 11, SoundFrame.ink)
  }
}

/// A frame with a panel for each channel, one below the other, and a time axis at the bottom.
struct SoundFrame {
  static let (width, height) = (1600.0, 680.0)
  static let (left, top) = (80.0, 44.0)
  static let plotWidth = Double(SoundInspection.columns)
  static let right = left + plotWidth
  private static let bottom = top + 580
  private static let gap = 18.0
  static let ink = Colour(0x1A1A1A)

  let title: SoundTitle
  let panelCount: Int

  /// Returns the vertical axis, from -1 to 1, of the panel with this index.
  func panel(_ index: Int) -> Axis { panel(index, from: -1, to: 1) }

  private func panel(_ index: Int, from lower: Double, to upper: Double) -> Axis {
    let count = Double(max(1, panelCount))
    let height = (Self.bottom - Self.top - Self.gap * (count - 1)) / count
    let top = Self.top + Double(index) * (height + Self.gap)
    return Axis(covering: [lower, upper], start: top + height, end: top)
  }

  /// Returns the position of a frame, or that of the end if the frame is beyond it.
  func x(ofFrame frame: Int) -> Double {
    Axis(covering: [0, Double(max(1, title.frames))], start: Self.left, end: Self.right)
      .position(of: Double(frame))
  }

  /// Draws the title and the time axis.
  func draw(on canvas: inout Canvas) {
    let hidden = title.channelCount - panelCount
    canvas.write(
      title.name + (hidden > 0 ? " (\(panelCount) of \(title.channelCount) channels)" : ""),
      x: Self.left, y: 28, size: 16, Self.ink)
    let seconds = Double(title.frames) / Double(max(1, title.sampleRate))
    let times = TimeTicks(seconds: seconds)
    for (time, label) in times.ticks {
      let x = Self.left + Self.plotWidth * time / max(seconds, 1e-9)
      canvas.line(from: (x, Self.bottom), to: (x, Self.bottom + 5), Self.ink)
      canvas.write(label, x: x, y: Self.bottom + 20, alignment: 0.5, Self.ink)
    }
    canvas.write(
      "time (\(times.unit))", x: Self.left + Self.plotWidth / 2, y: Self.bottom + 40,
      alignment: 0.5, Self.ink)
  }

  /// Draws the lines and labels of a channel's sample values.
  func drawLevels(_ channel: Int, on canvas: inout Canvas) {
    let axis = panel(channel)
    for level in [-1.0, -0.5, 0, 0.5, 1] {
      let y = axis.position(of: level)
      canvas.line(from: (Self.left, y), to: (Self.right, y), Colour(0xD9D9D9))
      write(NumberText.shortest(level, decimals: 1), at: y, on: &canvas)
    }
    write("channel \(channel + 1) (full scale 1)", along: axis, on: &canvas)
  }

  /// Draws the marks and labels of a channel's frequencies.
  func drawFrequencies(_ channel: Int, on canvas: inout Canvas) {
    let axis = panel(channel, from: 0, to: Double(title.sampleRate) / 2000)
    for tick in axis.verticalTicks() {
      canvas.line(
        from: (Self.left - 5, tick.position), to: (Self.left, tick.position), Self.ink)
      write(tick.label, at: tick.position, on: &canvas)
    }
    write("channel \(channel + 1), frequency (kHz)", along: axis, on: &canvas)
  }

  private func write(_ label: String, at y: Double, on canvas: inout Canvas) {
    canvas.write(label, x: Self.left - 8, y: y + 4, size: 11, alignment: 1, Self.ink)
  }

  private func write(_ name: String, along axis: Axis, on canvas: inout Canvas) {
    canvas.write(
      name, x: 18, y: (axis.start + axis.end) / 2, alignment: 0.5, isUpright: true, Self.ink)
  }
}

/// Labelled times along a time axis.
struct TimeTicks {
  /// The times in seconds, and their labels.
  let ticks: [(seconds: Double, label: String)]
  let unit: String

  private static let steps: [Double] = [
    60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
  ]

  init(seconds: Double) {
    guard seconds > 120 else {
      unit = "s"
      guard seconds > 0 else {
        ticks = [(0, "0")]
        return
      }
      let axis = Axis(covering: [0, seconds], start: 0, end: SoundFrame.plotWidth)
      ticks = axis.ticks().map { ($0.position / SoundFrame.plotWidth * seconds, $0.label) }
      return
    }
    var step = Self.steps.first { seconds / $0 <= 14 } ?? 86_400
    while seconds / step > 14 { step *= 2 }
    let hasHours = seconds >= 3600
    unit = hasHours ? "h:mm" : "min:s"
    ticks = (0...Int(clamping: seconds / step)).map { index in
      let whole = Int(clamping: Double(index) * step)
      let (large, small) = hasHours ? (whole / 3600, whole / 60 % 60) : (whole / 60, whole % 60)
      return (Double(index) * step, "\(large):\(small < 10 ? "0" : "")\(small)")
    }
  }
}

/// The colour map Inferno of Matplotlib (van der Walt and Smith, public domain). Equal steps look
/// equal, and lightness alone shows the order, also without colour vision.
struct ColourScale {
  /// Every sixteenth of its colours. The colours in between are interpolated.
  private static let colours: [UInt32] = [
    0x000000, 0x0B062C, 0x21094B, 0x3C0C5D, 0x571168, 0x71176C, 0x8A1F69, 0xA32960, 0xBA3651,
    0xCF453F, 0xE2572A, 0xF06E18, 0xF9890F, 0xFAA913, 0xF7CA2B, 0xF3EA5C, 0xFAFFA8,
  ]

  /// The colours from the lowest value to the highest, as pixels.
  let pixels: [UInt32] = (0..<256).map { step in
    let place = Double(step * (colours.count - 1)) / 255
    let index = min(Int(clamping: place), colours.count - 2)
    return [16, 8, 0].reduce(0) { pixel, shift in
      let (low, high) = (colours[index] >> shift & 0xFF, colours[index + 1] >> shift & 0xFF)
      let part = Double(low) + (Double(high) - Double(low)) * (place - Double(index))
      return pixel | UInt32(clamping: Int(rounding: part)) << shift
    }
  }
}

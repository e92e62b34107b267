import CairoDrawing
import SoundInspection

/// What stands over a picture of a sound, and how long it is.
public struct SoundTitle: Sendable {
  /// The name of the file.
  public var name: String
  /// Frames that are drawn.
  public var frames: Int
  /// Frames a second.
  public var sampleRate: Int
  /// Channels that it has, of which some may not be drawn.
  public var channelCount: Int

  /// A title of these parts.
  public init(name: String, frames: Int, sampleRate: Int, channelCount: Int) {
    self.name = name
    self.frames = frames
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  var seconds: Double { Double(frames) / Double(max(1, sampleRate)) }
}

/// A frame with a panel for each channel, one below the other, and time along the bottom.
struct SoundFrame {
  static let width = 1600.0
  static let height = 680.0
  static let left = 80.0
  static let top = 44.0
  static let plotWidth = Double(SoundInspection.columns)
  static let plotHeight = 580.0
  private static let gap = 18.0

  static let ink = Colour(0x1A1A1A)
  static let faint = Colour(0xD9D9D9)
  static let paper = Colour(0xFFFFFF)

  let panelCount: Int

  /// Where the panel of this number is.
  func panel(_ index: Int) -> (top: Double, height: Double) {
    let count = Double(max(1, panelCount))
    let height = (Self.plotHeight - Self.gap * (count - 1)) / count
    return (Self.top + Double(index) * (height + Self.gap), height)
  }

  /// The title, and the axis of time.
  func draw(_ title: SoundTitle, on canvas: inout Canvas) {
    let (left, bottom) = (Self.left, Self.top + Self.plotHeight)
    let hidden = title.channelCount - panelCount
    canvas.write(
      title.name + (hidden > 0 ? " (\(panelCount) of \(title.channelCount) channels)" : ""),
      x: left, y: 28, size: 16, Self.ink)
    for (seconds, label) in TimeTicks(seconds: title.seconds).ticks {
      let x = left + Self.plotWidth * seconds / max(title.seconds, 1e-9)
      canvas.line(from: (x, bottom), to: (x, bottom + 5), Self.ink)
      canvas.write(label, x: x, y: bottom + 20, alignment: 0.5, Self.ink)
    }
    canvas.write(
      "time (\(TimeTicks(seconds: title.seconds).unit))", x: left + Self.plotWidth / 2,
      y: bottom + 40, alignment: 0.5, Self.ink)
  }

  /// The name of a panel's vertical axis.
  func write(_ text: String, besides index: Int, on canvas: inout Canvas) {
    let panel = panel(index)
    canvas.write(
      text, x: 18, y: panel.top + panel.height / 2, alignment: 0.5, isUpright: true, Self.ink)
  }
}

/// Moments worth naming along an axis of time.
struct TimeTicks {
  /// Seconds, and how they are written.
  let ticks: [(seconds: Double, label: String)]
  let unit: String

  private static let steps: [Double] = [
    60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
  ]

  init(seconds: Double) {
    guard seconds > 120 else {
      let axis = Axis(covering: [0, max(seconds, 1e-6)], start: 0, end: SoundFrame.plotWidth)
      ticks = axis.ticks().map { ($0.position / SoundFrame.plotWidth * seconds, $0.label) }
      unit = "s"
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

/// A waveform: peaks, and within them the RMS level, of each channel.
public enum WaveformPicture {
  private static let peaks = Colour(0x9BB8D3)
  private static let power = Colour(0x1F4E79)

  /// The picture as a file has it.
  public static func bytes(
    _ waveform: WaveformColumns, _ title: SoundTitle, _ format: PictureFormat
  ) throws(DrawingFailure) -> [UInt8] {
    var canvas = try Canvas(format, width: SoundFrame.width, height: SoundFrame.height)
    let frame = SoundFrame(panelCount: waveform.channels.count)
    for (channel, columns) in waveform.channels.enumerated() {
      draw(columns, waveform.framesPerColumn, title, frame, channel, on: &canvas)
    }
    frame.draw(title, on: &canvas)
    return try canvas.finish()
  }

  private static func draw(
    _ columns: [WaveformColumns.Column], _ framesPerColumn: Int, _ title: SoundTitle,
    _ frame: SoundFrame, _ channel: Int, on canvas: inout Canvas
  ) {
    let (left, right) = (SoundFrame.left, SoundFrame.left + SoundFrame.plotWidth)
    let panel = frame.panel(channel)
    let middle = panel.top + panel.height / 2
    for level in [-1.0, -0.5, 0, 0.5, 1] {
      let y = middle - level * panel.height / 2
      canvas.line(from: (left, y), to: (right, y), SoundFrame.faint)
      let label = level == 0 ? "0" : NumberText.typeset(NumberText.shortest(level, decimals: 1))
      canvas.write(label, x: left - 8, y: y + 4, size: 11, alignment: 1, SoundFrame.ink)
    }
    // Column by column, so that the last, which may be shorter, ends where the sound does.
    let scale = SoundFrame.plotWidth / Double(max(1, title.frames))
    func shape(_ bounds: (WaveformColumns.Column) -> (Double, Double)) -> [(x: Double, y: Double)] {
      var upper: [(x: Double, y: Double)] = []
      var lower: [(x: Double, y: Double)] = []
      for (index, column) in columns.enumerated() {
        let (low, high) = bounds(column)
        let start = left + Double(index * framesPerColumn) * scale
        let end = min(right, left + Double((index + 1) * framesPerColumn) * scale)
        for x in [start, end] {
          // Never thinner than a line.
          upper.append((x, middle - clamped(high) * panel.height / 2 - 0.4))
          lower.append((x, middle - clamped(low) * panel.height / 2 + 0.4))
        }
      }
      return upper + lower.reversed()
    }
    guard !columns.isEmpty else { return }
    canvas.fill(shape { (Double($0.lowest), Double($0.highest)) }, peaks)
    canvas.fill(shape { (-$0.rms, $0.rms) }, power)
    frame.write("channel \(channel + 1) (full scale 1)", besides: channel, on: &canvas)
  }

  private static func clamped(_ value: Double) -> Double { min(max(value, -1), 1) }
}

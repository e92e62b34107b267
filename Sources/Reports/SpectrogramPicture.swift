import CairoDrawing
import Glibc
import SoundInspection

/// A spectrogram: power by time and frequency, 0 dBFS being a sine of full scale.
public enum SpectrogramPicture {
  /// What is softer is drawn as if it were that.
  private static let floorDBFS = -120.0

  /// The picture as a file has it.
  public static func bytes(
    _ spectrogram: Spectrogram, _ title: SoundTitle, _ format: PictureFormat
  ) throws(DrawingFailure) -> [UInt8] {
    var canvas = try Canvas(format, width: SoundFrame.width, height: SoundFrame.height)
    let frame = SoundFrame(panelCount: spectrogram.channelCount)
    let scale = ColourScale()
    // The last column may reach beyond the end.
    let columns = spectrogram.columnCount
    let covered = Double(columns * spectrogram.framesPerColumn)
    let width = SoundFrame.plotWidth * covered / Double(max(1, title.frames))
    for channel in 0..<spectrogram.channelCount {
      let panel = frame.panel(channel)
      canvas.draw(
        pixels(spectrogram, channel, scale), columns: columns, x: SoundFrame.left, y: panel.top,
        width: width, height: panel.height)
      drawFrequencies(title, frame, channel, on: &canvas)
    }
    // What stands out on the right is covered again.
    let right = SoundFrame.left + SoundFrame.plotWidth
    canvas.fill(
      x: right, y: 0, width: SoundFrame.width - right, height: SoundFrame.height, SoundFrame.paper)
    drawScale(scale, on: &canvas)
    frame.draw(title, on: &canvas)
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

  private static func drawFrequencies(
    _ title: SoundTitle, _ frame: SoundFrame, _ channel: Int, on canvas: inout Canvas
  ) {
    let panel = frame.panel(channel)
    let axis = Axis(
      covering: [0, Double(title.sampleRate) / 2000], start: panel.top + panel.height,
      end: panel.top)
    for tick in axis.verticalTicks() {
      canvas.line(
        from: (SoundFrame.left - 5, tick.position), to: (SoundFrame.left, tick.position),
        SoundFrame.ink)
      canvas.write(
        tick.label, x: SoundFrame.left - 8, y: tick.position + 4, size: 11, alignment: 1,
        SoundFrame.ink)
    }
    frame.write("channel \(channel + 1), frequency (kHz)", besides: channel, on: &canvas)
  }

  /// Which colour is which level.
  private static func drawScale(_ scale: ColourScale, on canvas: inout Canvas) {
    let (left, top, width) = (SoundFrame.left + SoundFrame.plotWidth - 420, 14.0, 300.0)
    canvas.draw(scale.pixels, columns: 256, x: left, y: top, width: width, height: 10)
    for (share, label) in [(0.0, "\u{2212}120"), (0.5, "\u{2212}60"), (1, "0")] {
      canvas.write(
        label, x: left + share * width, y: top + 24, size: 11, alignment: 0.5, SoundFrame.ink)
    }
    canvas.write("dBFS", x: left + width + 14, y: top + 10, size: 11, SoundFrame.ink)
  }
}

/// A spectrum as a line of text: one bar per band, with a range of 72 dB.
enum SpectrumText {
  private static let bars = Array(" ▁▂▃▄▅▆▇█")

  static func line(_ levels: [Double]) -> String {
    String(levels.map { bars[max(0, min(8, Int(clamping: ($0 + 72) / 9 + 0.5)))] })
  }
}

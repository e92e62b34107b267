import AudioBasics
import Glibc

/// A Butterworth high-pass of the fourth order: two second-order sections in double precision,
/// stable and exact to the float at every rate and frequency allowed.
///
/// Formulas: Robert Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter
/// coefficients" (W3C Audio EQ Cookbook), high-pass; the sections' Q are 1 / (2 cos(pi / 8)) and
/// 1 / (2 cos(3 pi / 8)), where a Butterworth's poles lie.
struct HighPass {
  /// One section, transposed direct form II: y = b0 x + s1, s1 = b1 x - a1 y + s2,
  /// s2 = b0 x - a2 y.
  private struct Section {
    private let b0, b1, a1, a2: Double
    private var s1 = 0.0
    private var s2 = 0.0

    init(hertz: Double, sampleRate: Double, q: Double) {
      let omega = 2 * Double.pi * hertz / sampleRate
      let alpha = sin(omega) / (2 * q)
      let a0 = 1 + alpha
      b0 = (1 + cos(omega)) / 2 / a0
      b1 = -(1 + cos(omega)) / a0
      a1 = -2 * cos(omega) / a0
      a2 = (1 - alpha) / a0
    }

    mutating func filter(_ x: Double) -> Double {
      let y = b0 * x + s1
      s1 = b1 * x - a1 * y + s2
      s2 = b0 * x - a2 * y
      return y
    }

    /// Denormal numbers, which a dying filter would reach, are slow: it is silent long before.
    mutating func settle() {
      if abs(s1) < 1e-30 { s1 = 0 }
      if abs(s2) < 1e-30 { s2 = 0 }
    }
  }

  /// Frames between two looks for a filter that has died away: far fewer than it takes from where
  /// `settle` draws the line to the first denormal number.
  private static let settlingFrames = 256

  /// Two of each channel.
  private var sections: [(Section, Section)]

  init(hertz: Double, sampleRate: Int, channelCount: Int) {
    let rate = Double(sampleRate)
    let pair = (
      Section(hertz: hertz, sampleRate: rate, q: 0.5 / cos(.pi / 8)),
      Section(hertz: hertz, sampleRate: rate, q: 0.5 / cos(3 * .pi / 8))
    )
    sections = Array(repeating: pair, count: channelCount)
  }

  mutating func filter(_ buffer: inout SampleBuffer, frames: Int) {
    for channel in 0..<sections.count {
      var (first, second) = sections[channel]
      var index = channel
      for frame in 0..<frames {
        if frame % Self.settlingFrames == 0 {
          first.settle()
          second.settle()
        }
        buffer.base[index] = Float(second.filter(first.filter(Double(buffer.base[index]))))
        index += sections.count
      }
      first.settle()
      second.settle()
      sections[channel] = (first, second)
    }
  }
}

import AudioBasics
import Glibc

/// A Butterworth high-pass of the fourth order: two second-order sections in double precision,
/// stable and exact to the float at every rate and frequency allowed.
///
/// The sections' Q are 1 / (2 cos(pi / 8)) and 1 / (2 cos(3 pi / 8)), where a Butterworth's poles
/// lie.
struct HighPass {
  /// Frames between two looks for a filter that has died away: far fewer than it takes from where
  /// `settle` draws the line to the first denormal number.
  private static let settlingFrames = 256

  /// Two of each channel.
  private var sections: [(Biquad, Biquad)]

  init(hertz: Double, sampleRate: Int, channelCount: Int) {
    let rate = Double(sampleRate)
    let pair = (
      Biquad(highPass: hertz, quality: 0.5 / cos(.pi / 8), sampleRate: rate),
      Biquad(highPass: hertz, quality: 0.5 / cos(3 * .pi / 8), sampleRate: rate)
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
        buffer.base[index] = Float(second.next(first.next(Double(buffer.base[index]))))
        index += sections.count
      }
      first.settle()
      second.settle()
      sections[channel] = (first, second)
    }
  }
}

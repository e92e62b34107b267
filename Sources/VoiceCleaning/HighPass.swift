import AudioBasics
import Glibc

/// A Butterworth high-pass filter of fourth order: two second-order sections in double precision,
/// stable and exact to single precision at every rate and frequency allowed.
///
/// The Q of the sections are 1 / (2 cos(pi / 8)) and 1 / (2 cos(3 pi / 8)), by the poles of a
/// Butterworth filter.
struct HighPass {
  /// The number of frames between two checks for a decayed filter: far fewer than the decay takes
  /// from the threshold of `flushDenormals` to the first denormal number.
  private static let settlingFrames = 256

  /// Two sections per channel.
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
          first.flushDenormals()
          second.flushDenormals()
        }
        buffer.base[index] = Float(second.next(first.next(Double(buffer.base[index]))))
        index += sections.count
      }
      first.flushDenormals()
      second.flushDenormals()
      sections[channel] = (first, second)
    }
  }
}

import AudioBasics

/// Shifts frames by a fraction of a frame, by band-limited interpolation.
///
/// The error is below -100 dB up to 0.45 of the rate. The filter is a sinc with a Kaiser window.
/// Not on the audio thread.
public struct FrameShift: ~Copyable, Sendable {
  /// The delay of the output in frames, less the fraction.
  public static let delayFrames = 36

  private let taps: SampleBuffer
  /// The frames that the filter still needs, and room for the next ones.
  private var past: SampleBuffer
  private var shifted: SampleBuffer
  private let channelCount: Int
  private static let chunkFrames = 1024

  /// Creates a shift by `fraction` of a frame, from 0 to 1. Output frame n is the input at n -
  /// `delayFrames` + `fraction`. Another fraction is a fatal error with a message.
  public init(fraction: Double, channelCount: Int) {
    requirement(fraction >= 0 && fraction <= 1, "A shift must be from 0 to 1 frame.")
    let width = 2 * Self.delayFrames
    var taps = SampleBuffer(frameCount: 1, channelCount: width)
    WindowedSinc.design(&taps, row: 0, halfWidth: Self.delayFrames, fraction: fraction)
    self.taps = taps
    self.channelCount = channelCount
    past = SampleBuffer(frameCount: width - 1 + Self.chunkFrames, channelCount: channelCount)
    shifted = SampleBuffer(frameCount: Self.chunkFrames, channelCount: channelCount)
  }

  /// Shifts the first `frames` frames of `buffer`, which follow the frames of the previous call.
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    requirement(
      buffer.channelCount == channelCount && frames <= buffer.frameCount,
      "The buffer needs the number of channels of the shift, and enough frames.")
    let history = taps.channelCount - 1
    var done = 0
    while done < frames {
      let count = min(frames - done, Self.chunkFrames)
      past.replace(at: history, with: buffer, from: done, frames: count)
      for frame in 0..<count {
        for channel in 0..<channelCount {
          var sum: Float = 0
          for tap in 0...history {
            sum += taps[tap] * past[(frame + tap) * channelCount + channel]
          }
          shifted[frame * channelCount + channel] = sum
        }
      }
      buffer.replace(at: done, with: shifted, from: 0, frames: count)
      // Copied forwards because the two ranges overlap.
      for sample in 0..<history * channelCount {
        past[sample] = past[count * channelCount + sample]
      }
      done += count
    }
  }
}

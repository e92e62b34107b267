import AudioBasics
import AudioSessions
import Foundation

/// Returns reproducible noise with peaks up to `peak`.
func limiterNoise(frames: Int, peak: Float, channels: Int = 2) -> [Float] {
  var seed: UInt32 = 1
  return (0..<frames * channels).map { _ in
    seed = seed &* 1_664_525 &+ 1_013_904_223
    return (Float(seed >> 8) / 8_388_608 - 1) * peak
  }
}

/// Returns the output of `limiter` for `samples` of two channels, processed in periods.
func limited(_ samples: [Float], by limiter: inout Limiter, period: Int = 64) -> [Float] {
  var result: [Float] = []
  var buffer = SampleBuffer(frameCount: period, channelCount: 2)
  for start in stride(from: 0, to: samples.count, by: 2 * period) {
    let frames = min(period, (samples.count - start) / 2)
    for index in 0..<2 * frames { buffer[index] = samples[start + index] }
    limiter.process(&buffer, frames: frames)
    for index in 0..<2 * frames { result.append(buffer[index]) }
  }
  return result
}

/// Returns the level of all content other than a tone of `hertz` in one second (48,000 frames) of
/// `heard`, in dB relative to that tone. The tone is fitted by least squares.
func distortionDecibels(of heard: [Double], hertz: Double) -> Double {
  let step = 2 * Double.pi * hertz / 48000
  var (sine, cosine) = (0.0, 0.0)
  for (frame, sample) in heard.enumerated() {
    sine += sample * sin(step * Double(frame)) / 24000
    cosine += sample * cos(step * Double(frame)) / 24000
  }
  var rest = 0.0
  for (frame, sample) in heard.enumerated() {
    let angle = step * Double(frame)
    let error = sample - sine * sin(angle) - cosine * cos(angle)
    rest += error * error
  }
  return 10 * log10(rest / (24000 * (sine * sine + cosine * cosine)))
}

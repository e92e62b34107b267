import Foundation

/// What a second of `heard`, 48,000 frames, has besides a tone of `hertz`, in dB below that tone: the tone's sine and
/// cosine are found by least squares.
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

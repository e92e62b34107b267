import AudioSpectra
import Glibc

/// A room in which the direct sound of a voice is as loud as its reflections. Its impulse response
/// is noise that falls by 60 dB in `seconds`.
struct TestRoom {
  /// The time in seconds up to which reflections count as part of the speech.
  static let earlySeconds = 0.05

  private let answer: [Float]
  private let sampleRate: Int

  init(seconds: Double, sampleRate: Int) {
    let noise = TestVoices.noise(seconds: 1.2 * seconds, sampleRate: sampleRate, level: 0, seed: 5)
    var answer = noise.enumerated().map { frame, sample in
      sample * Float(pow(10, -3 * Double(frame) / (seconds * Double(sampleRate))))
    }
    // No wall is nearer than 1/3 m.
    for frame in 0..<sampleRate / 500 { answer[frame] = 0 }
    let gain = 1 / answer.reduce(0) { $0 + $1 * $1 }.squareRoot()
    for frame in answer.indices { answer[frame] *= gain }
    answer[0] = 1
    self.answer = answer
    self.sampleRate = sampleRate
  }

  /// Returns the sound in the room, and its early part.
  func reverberate(_ sound: [Float]) -> (whole: [Float], early: [Float]) {
    let early = Int(clamping: Self.earlySeconds * Double(sampleRate))
    return (convolve(sound, answer), convolve(sound, Array(answer.prefix(early))))
  }

  private func convolve(_ sound: [Float], _ filter: [Float]) -> [Float] {
    guard let transform = FourierTransform(atLeast: sound.count + filter.count) else { return [] }
    var product = transform.spectrum(of: sound.span)
    let response = transform.spectrum(of: filter.span)
    for bin in product.indices { product[bin] = product[bin] * response[bin] }
    return Array(transform.signal(of: product).prefix(sound.count))
  }
}

import AudioSpectra
import Glibc

/// A room in which a voice is heard as loud straight from the mouth as from the walls: its answer
/// to a click is noise that falls by 60 dB in `seconds`.
struct TestRoom {
  /// What is earlier than this, in seconds, belongs to the speech.
  static let earlySeconds = 0.05

  private let answer: [Float]
  private let sampleRate: Int

  init(seconds: Double, sampleRate: Int) {
    let noise = TestVoices.noise(seconds: 1.2 * seconds, sampleRate: sampleRate, level: 0, seed: 5)
    var answer = noise.enumerated().map { frame, sample in
      sample * Float(pow(10, -3 * Double(frame) / (seconds * Double(sampleRate))))
    }
    // No wall is nearer than a third of a metre.
    for frame in 0..<sampleRate / 500 { answer[frame] = 0 }
    let gain = 1 / answer.reduce(0) { $0 + $1 * $1 }.squareRoot()
    for frame in answer.indices { answer[frame] *= gain }
    answer[0] = 1
    self.answer = answer
    self.sampleRate = sampleRate
  }

  /// What is heard of a sound, and what is early of that.
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

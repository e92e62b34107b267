import AudioBasics
import AudioClocks
import AudioSpectra
import Glibc

/// A random recording of a known sound, made by a microphone in a room. The bandwidth of the sound,
/// its echoes, the recorder's clock rate and the noise are random.
package struct ByEarTrial {
  /// The kind of sound that is played.
  package enum Material: CaseIterable, Sendable {
    case speech, music, drums, noise, sweep
  }

  package let reference: [Float]
  package let recording: [Float]
  /// The delay of the reference's first frame in the recording, in frames.
  package let delayFrames: Double
  /// The tolerated error of an estimate in frames: half a frame, or 1/20 of the period of the
  /// band's upper edge if that edge is below 600 Hz.
  package let toleranceFrames: Double

  private static let rate = 48000.0

  /// Creates trial number `seed`; the seed determines all random choices.
  package init?(seed: UInt64) {
    var random = SplitMix64(seed: seed &* 0x9E37_79B9)
    let material = Material.allCases[Int(clamping: random.uniform(0...4.999))]
    let seconds = random.uniform(2...6)
    let frames = Int(clamping: seconds * Self.rate)
    let sound = Self.sound(material, frames: frames, seed: seed, random: &random)
    // From 300 Hz to 20 kHz, with equal probability for each octave.
    let hertz = 300 * pow(20000.0 / 300, random.uniform(0...1))
    toleranceFrames = hertz < 600 ? Self.rate / hertz / 20 : 0.5
    delayFrames = random.uniform(0...20000)
    let drift = random.uniform(0...1) < 0.4 ? 0 : random.uniform(-200...200) * 1e-6
    reference = sound
    guard
      var heard = Self.lowPassed(Self.late(sound, by: delayFrames, drift: drift), below: hertz)
    else { return nil }
    let power = heard.reduce(0) { $0 + Double($1) * Double($1) } / Double(frames)
    Self.addEchoes(to: &heard, random: &random)
    let deviation = (power * pow(10, -random.uniform(-10...50) / 10)).squareRoot()
    for frame in heard.indices { heard[frame] += Float(random.normal() * deviation) }
    recording = heard
  }

  private static func sound(
    _ material: Material, frames: Int, seed: UInt64, random: inout SplitMix64
  ) -> [Float] {
    switch material {
    case .speech, .music, .drums:
      let kind: LoopSound =
        material == .speech ? .speech : material == .music ? .music : .drums
      let next = kind.make(seed, sampleRate: Int(clamping: rate))
      return (0..<frames).map { next($0) }
    case .noise: return (0..<frames).map { _ in Float(0.1 * random.normal()) }
    case .sweep:
      // A logarithmic sweep from 50 Hz to 20 kHz.
      let octaves = log(400.0)
      let length = Double(frames) / rate
      return (0..<frames).map { frame in
        let part = Double(frame) / Double(frames)
        return Float(0.3 * sin(2 * .pi * 50 * length / octaves * (exp(octaves * part) - 1)))
      }
    }
  }

  /// Returns the sound delayed by `delay` frames, as recorded by a clock that is faster by `drift`.
  private static func late(_ sound: [Float], by delay: Double, drift: Double) -> [Float] {
    let first = Int(clamping: delay.rounded(.up))
    let length = Int(clamping: Double(sound.count) * (1 + drift))
    var converter = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 1.01)
    converter.setRatio(1 / (1 + drift))
    converter.reset(position: (Double(first) - delay) / (1 + drift))
    var input = SampleBuffer(frameCount: sound.count + 256, channelCount: 1)
    for (frame, sample) in sound.enumerated() { input[frame] = sample }
    var output = SampleBuffer(frameCount: length, channelCount: 1)
    let (_, produced) = converter.convert(
      input, frames: input.frameCount, into: &output, room: length)
    return Array(repeating: 0, count: first) + (0..<produced).map { output[$0] }
      + Array(repeating: 0, count: 4000)
  }

  /// Removes all frequencies above `hertz` with a slope of 1/6 octave and no phase shift.
  private static func lowPassed(_ sound: [Float], below hertz: Double) -> [Float]? {
    guard hertz < 19000 else { return sound }
    guard let transform = FourierTransform(atLeast: sound.count + 4096) else { return nil }
    var spectrum = transform.spectrum(of: sound.span)
    for bin in spectrum.indices {
      let octaves = log2(max(1, Double(bin) * rate / Double(transform.length)) / hertz) * 6
      let gain = octaves <= 0 ? 1 : octaves >= 1 ? 0 : (1 + cos(.pi * octaves)) / 2
      spectrum[bin] = spectrum[bin] * Float(gain)
    }
    return Array(transform.signal(of: spectrum)[0..<sound.count])
  }

  /// Adds up to three echoes, 2 to 2,000 frames late and at least 4 dB weaker.
  private static func addEchoes(to sound: inout [Float], random: inout SplitMix64) {
    let direct = sound
    for _ in 0..<Int(clamping: random.uniform(0...3.999)) {
      let behind = Int(clamping: 2 * pow(1000, random.uniform(0...1)))
      let gain = Float(random.uniform(-0.6...0.6))
      for frame in behind..<sound.count { sound[frame] += gain * direct[frame - behind] }
    }
  }
}

import AudioBasics
import AudioSpectra
import DelayEstimation
import Glibc

/// A probe that has passed through a simulated signal path, and its true delay.
package struct DelayedSignal {
  /// The signal path of a probe.
  package enum Way: String, CaseIterable, Sendable {
    case plain, clipped, bandLimited, echoing
    /// With an echo 3 to 8 frames late.
    case nearEcho
    /// With such an echo, limited to 300 to 8000 Hz.
    case narrowEcho

    package var isBandLimited: Bool { self == .bandLimited || self == .narrowEcho }
    package var isEchoing: Bool { self == .echoing || self == .nearEcho || self == .narrowEcho }
  }

  package let reference: [Float]
  package let recording: [Float]
  package let delayFrames: Double
  package let isInverted: Bool

  /// Creates a recording of one second of probe at `rate`. The probe is `signalToNoiseDB` above the
  /// white noise while it plays.
  package init?(_ way: Way, rate: Int, signalToNoiseDB: Double, random: inout SplitMix64) {
    let probe = ProbeSignal(seed: random.next(), frames: rate).samples
    delayFrames = random.uniform(0...Double(min(96_000, 2 * rate)))
    isInverted = random.uniform(0...1) < 0.5
    let gain = Gain(decibels: random.uniform(-60...0)).factor * (isInverted ? -1 : 1)
    let count = rate + Int(clamping: delayFrames) + 2000
    guard let transform = FourierTransform(atLeast: count + 4000) else { return nil }
    let spectrum = transform.spectrum(of: probe.span)
    let echo = (
      delay: random.uniform(way == .echoing ? 4...2000 : 3...8),
      gain: 0.5 * (random.uniform(0...1) < 0.5 ? -1 : 1)
    )
    let length = transform.length
    let delay = delayFrames
    let turned = spectrum.indices.map { bin in
      let frequency = Double(bin) * Double(rate) / Double(length)
      guard !way.isBandLimited || (300...8000).contains(frequency) else {
        return ComplexFloat(0, 0)
      }
      let angle = 2 * Double.pi * Double(bin) / Double(length)
      var real = cos(angle * delay)
      var imaginary = -sin(angle * delay)
      if way.isEchoing {
        real += echo.gain * cos(angle * (delay + echo.delay))
        imaginary -= echo.gain * sin(angle * (delay + echo.delay))
      }
      return spectrum[bin] * ComplexFloat(Float(real), Float(imaginary)) * gain
    }
    var captured = Array(transform.signal(of: turned)[0..<count])
    let power =
      captured.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(rate)
      / (way.isEchoing ? 1.25 : 1)
    if way == .clipped {
      let limit = captured.reduce(Float(0)) { max($0, abs($1)) } / 2
      captured = captured.map { max(-limit, min(limit, $0)) }
    }
    let deviation = (power / pow(10, signalToNoiseDB / 10)).squareRoot()
    recording = captured.map { $0 + Float(random.normal() * deviation) }
    reference = probe
  }
}

extension DelayedSignal {
  /// Returns `signal`, delayed by `delay` frames, in a recording of `frames` frames; nil if memory
  /// is insufficient.
  package static func delayed(_ signal: [Float], by delay: Double, frames: Int) -> [Float]? {
    guard let transform = FourierTransform(atLeast: frames + signal.count) else { return nil }
    var spectrum = transform.spectrum(of: signal.span)
    for bin in spectrum.indices {
      let angle = -2 * Double.pi * Double(bin) / Double(transform.length) * delay
      spectrum[bin] = spectrum[bin] * ComplexFloat(Float(cos(angle)), Float(sin(angle)))
    }
    return Array(transform.signal(of: spectrum)[0..<frames])
  }
}

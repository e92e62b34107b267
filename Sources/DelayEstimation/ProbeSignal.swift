import AudioBasics
import AudioSpectra
import Glibc

/// A burst of white noise, the same for the same seed. It is played to measure the delay of its
/// recording.
///
/// Clipping in a converter or an amplifier does not shift the position of noise, because the
/// distortion is as symmetric in time as the noise itself. A maximum-length sequence shifts by 0.1
/// frame. The spectrum ends at 0.445 of the rate, since higher frequencies are affected by the
/// filter of every converter.
///
/// ```swift
/// let probe = ProbeSignal(seed: 7, frames: 4800)
/// precondition(probe.samples == ProbeSignal(seed: 7, frames: 4800).samples)
/// ```
public struct ProbeSignal: Sendable {
  /// The burst, with peaks of at most 1.
  public let samples: [Float]

  /// The frequencies at which the spectrum begins to fall and at which it ends, over the rate.
  private static let edge = 0.42...0.445

  /// Creates a burst of `frames` frames. Its ends fade in and out over `rampFrames` frames, so that
  /// there are no clicks. More than 16,777,216 frames end the program with a message.
  public init(seed: UInt64, frames: Int, rampFrames: Int = 0) {
    requirement(frames <= 1 << 24, "A burst has at most 16777216 frames.")
    // Mixed, so that no two seeds begin the same sequence at different positions.
    var numbers = SplitMix64(seed: SplitMix64.mixed(seed))
    let noise: [Float] = (0..<max(0, frames)).map { _ in
      Float(Int64(bitPattern: numbers.next()) >> 40) / 8_388_608
    }
    samples = Self.ramped(Self.limited(noise), rampFrames)
  }

  /// Returns the noise without frequencies above the edge, scaled to a peak of 1.
  private static func limited(_ noise: [Float]) -> [Float] {
    guard noise.count > 1, let transform = FourierTransform(atLeast: noise.count) else {
      return noise
    }
    var spectrum = transform.spectrum(of: noise.span)
    for bin in spectrum.indices {
      let frequency = Double(bin) / Double(transform.length)
      let place = (frequency - edge.lowerBound) / (edge.upperBound - edge.lowerBound)
      let weight = place <= 0 ? 1 : place >= 1 ? 0 : 0.5 + 0.5 * cos(Double.pi * place)
      spectrum[bin] = spectrum[bin] * Float(weight)
    }
    let signal = transform.signal(of: spectrum).prefix(noise.count)
    let peak = signal.reduce(Float(0)) { max($0, abs($1)) }
    return signal.map { peak > 0 ? $0 / peak : 0 }
  }

  private static func ramped(_ signal: [Float], _ rampFrames: Int) -> [Float] {
    let ramp = max(0, min(rampFrames, signal.count / 2))
    var signal = signal
    for frame in 0..<ramp {
      let weight = Float(0.5 - 0.5 * cos(Double.pi * (Double(frame) + 0.5) / Double(ramp)))
      signal[frame] *= weight
      signal[signal.count - 1 - frame] *= weight
    }
    return signal
  }
}

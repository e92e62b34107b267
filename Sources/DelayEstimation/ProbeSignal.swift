import Glibc

/// A burst of white noise, the same for the same seed: what is played to find out how late it comes
/// back.
///
/// Noise of independent samples keeps its place when a converter or an amplifier clips it: what
/// distortion adds is as symmetric in time as the noise itself. A maximum-length sequence shifts by
/// 0.1 frame. An even distribution has the most power for its peak of all such noise: its RMS is
/// 4.8 dB below.
public struct ProbeSignal: Sendable {
  /// The burst, with peaks of at most 1.
  public let samples: [Float]

  /// A burst of `frames` frames. Its ends rise and fall for `rampFrames` frames, so that no ear or
  /// loudspeaker is struck.
  public init(seed: UInt64, frames: Int, rampFrames: Int = 0) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x5EED
    let ramp = max(0, min(rampFrames, frames / 2))
    samples = (0..<max(0, frames)).map { frame in
      // SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      word ^= word >> 31
      let value = Float(Int64(bitPattern: word) >> 40) / 8_388_608
      let distance = min(frame, frames - 1 - frame)
      guard distance < ramp else { return value }
      return value * Float(0.5 - 0.5 * cos(Double.pi * (Double(distance) + 0.5) / Double(ramp)))
    }
  }
}

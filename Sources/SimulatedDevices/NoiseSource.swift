// Audio thread.
import AudioBasics

/// White noise, the same every time: each sample the sum of four even numbers, which is close to
/// a normal distribution and never more than 3.5 times its RMS.
struct NoiseSource: BitwiseCopyable, Sendable {
  private var state: UInt64 = 0x5EED_0F_50_0D_50_00D5
  private let scale: Float

  /// Noise of the given RMS in dBFS; 0 dBFS is an RMS of 1.
  init(decibels: Double) {
    // Four numbers of 0...65535, each with a variance of (65536^2 - 1) / 12.
    let deviation = ((65536.0 * 65536 - 1) / 3).squareRoot()
    scale = Decibels.gain(decibels) / Float(deviation)
  }

  @_noLocks
  private mutating func next() -> Float {
    // SplitMix64.
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word &>> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word &>> 27)) &* 0x94D0_49BB_1331_11EB
    word ^= word &>> 31
    let low = (word & 0xFFFF) &+ (word &>> 16 & 0xFFFF)
    let sum = low &+ (word &>> 32 & 0xFFFF) &+ word &>> 48
    return Float(Int32(truncatingIfNeeded: sum) &- 131_070) * scale
  }

  /// Adds noise to the first `frames` frames, each channel its own.
  @_noLocks
  mutating func add(to buffer: inout SampleBuffer, frames: Int) {
    let count = frames &* buffer.channelCount
    var index = 0
    while index < count {
      buffer[index] += next()
      index &+= 1
    }
  }
}

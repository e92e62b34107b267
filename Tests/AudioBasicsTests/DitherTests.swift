import AudioBasics
import Glibc
import Testing

@Suite struct DitherTests {
  /// Returns the output of a 16-bit converter for a tone, in quantization steps.
  private func rounded(dBFS: Double, frames: Int, dithered: Bool) -> [Double] {
    var dither = Dither(isUnconditional: false)
    var buffer = SampleBuffer(frameCount: 512, channelCount: 1)
    var steps: [Double] = []
    while steps.count < frames {
      for frame in 0..<512 {
        let angle = 2 * .pi * 1000 * Double(steps.count + frame) / 48000
        buffer[frame] = Float(pow(10, dBFS / 20) * sin(angle))
      }
      if dithered { dither.process(&buffer, frames: 512) }
      for frame in 0..<512 { steps.append(Double((buffer[frame] * 32768).rounded())) }
    }
    return Array(steps.prefix(frames))
  }

  /// Returns the level of a frequency in dBFS.
  private func level(_ hertz: Double, in steps: [Double]) -> Double {
    var (real, imaginary) = (0.0, 0.0)
    for (frame, step) in steps.enumerated() {
      let angle = 2 * .pi * hertz * Double(frame) / 48000
      real += step * cos(angle)
      imaginary -= step * sin(angle)
    }
    let amplitude = 2 * (real * real + imaginary * imaginary).squareRoot() / Double(steps.count)
    return 20 * log10(max(1e-12, amplitude / 32768))
  }

  @Test func `a tone below the last bit is lost by rounding, and survives with dither`() {
    let frames = 240_000
    #expect(level(1000, in: rounded(dBFS: -100, frames: frames, dithered: false)) < -200)
    let dithered = rounded(dBFS: -100, frames: frames, dithered: true)
    #expect(abs(level(1000, in: dithered) + 100) < 0.3)
  }

  @Test func `rounding creates harmonics, and dither prevents them`() {
    let frames = 240_000
    let plain = rounded(dBFS: -85, frames: frames, dithered: false)
    let dithered = rounded(dBFS: -85, frames: frames, dithered: true)
    #expect(level(3000, in: plain) > -115)
    for harmonic in 2...9 { #expect(level(1000 * Double(harmonic), in: dithered) < -130) }
    // The power of the evenly distributed error of one step and of the dither noise: a quarter of a
    // step squared.
    let power = zip(dithered.indices, dithered).reduce(0.0) { sum, pair in
      let tone = 32768 * pow(10, -85 / 20.0) * sin(2 * .pi * 1000 * Double(pair.0) / 48000)
      return sum + (pair.1 - tone) * (pair.1 - tone)
    }
    #expect(abs(power / Double(frames) - 0.25) < 0.003)
  }

  @Test(arguments: [1, 2, 3])
  func `samples of exactly 16 bits are unchanged unless dither is unconditional`(channelCount: Int)
  {
    var buffer = SampleBuffer(frameCount: 37, channelCount: channelCount)
    for index in 0..<buffer.sampleCount {
      buffer[index] = Float(index * 811 % 65536 - 32768) / 32768
    }
    let before = (0..<buffer.sampleCount).map { buffer[$0] }
    var automatic = Dither(isUnconditional: false)
    automatic.process(&buffer, frames: 37)
    #expect((0..<buffer.sampleCount).map { buffer[$0] } == before)
    var always = Dither(isUnconditional: true)
    always.process(&buffer, frames: 37)
    let noise = zip((0..<buffer.sampleCount).map { buffer[$0] }, before).map { ($0 - $1) * 32768 }
    #expect(noise.allSatisfy { abs($0) <= 1.01 })
    #expect(noise.filter { $0 == 0 }.count < 4)
    // Only the very last sample is not an integer.
    buffer.clear(frames: 37)
    buffer[buffer.sampleCount - 1] = 0.3 / 32768
    automatic.process(&buffer, frames: 37)
    #expect((0..<buffer.sampleCount).contains { $0 < 30 && buffer[$0] != 0 })
  }
}

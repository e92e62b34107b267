import AudioBasics
import Glibc
import Testing

@testable import SpectrumExample

@Suite struct SpectrumTests {
  @Test func `a sine appears in its band, at its level and at its frame`() throws {
    let tap = try #require(SpectrumTap(bandCount: 64, sampleRate: 48000))
    var buffer = SampleBuffer(frameCount: 4096, channelCount: 2)
    for frame in 0..<4096 {
      // Half of full scale, in the middle of a bin.
      buffer[2 * frame] = Float(0.5 * sin(2 * Double.pi * 937.5 * Double(frame) / 48000))
    }
    tap.process(&buffer, frames: 4096, at: 1000)
    #expect(tap.spectrum(frame: 999) == nil)
    let spectrum = try #require(tap.spectrum(frame: 1500))
    #expect(spectrum.frame == 1000)
    #expect(tap.spectrum(frame: 99999)?.frame == 3048)
    let loudest = try #require(
      spectrum.levels.indices.max { spectrum.levels[$0] < spectrum.levels[$1] })
    #expect(abs(spectrum.levels[loudest] + 6.02) < 0.1)
    let far = spectrum.levels.enumerated().filter { abs($0.offset - loudest) > 8 }
    #expect(far.allSatisfy { $0.element < -60 })
    let bar = SpectrumText.line([-90, -36, 0])
    #expect(bar == " ▄█")
  }
}

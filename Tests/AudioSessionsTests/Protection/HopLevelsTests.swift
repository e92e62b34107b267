import AudioBasics
import Glibc
import TestSupport
import Testing

@testable import AudioSessions

@Suite struct HopLevelsTests {
  /// Returns the levels of a tone in all of `channels` channels, half a second after its start,
  /// measured in cycles of `period` frames.
  private func levels(channels: Int, frequency: Double, rate: Int, period: Int) -> SIMD4<Float> {
    var bands = HopLevels(sampleRate: rate, channelCount: channels)
    var buffer = SampleBuffer(frameCount: period, channelCount: channels)
    var frame = 0
    while frame < rate / 2 {
      for index in 0..<period * channels {
        let angle = 2 * Double.pi * frequency * Double(frame + index / channels) / Double(rate)
        buffer[index] = Float(0.5 * sin(angle))
      }
      var done = 0
      while done < period {
        done = bands.listen(buffer, from: done, to: period).stop
        if bands.isHopOver { bands.finishHops() }
      }
      frame += period
    }
    return bands.levels
  }

  /// One and two channels are processed eight frames at a time, three channels frame by frame.
  @Test(arguments: [8000, 44100, 48000, 96000], [1, 7, 64, 1000])
  func `the level of a tone is independent of channel count and period`(
    rate: Int, period: Int
  ) {
    for frequency in [180.0, 650, 2200, 3400] {
      let wanted = levels(channels: 3, frequency: frequency, rate: rate, period: 64)
      for channels in 1...2 {
        let found = levels(channels: channels, frequency: frequency, rate: rate, period: period)
        for band in 0..<4 { #expect(abs(found[band] - wanted[band]) < 0.05) }
      }
    }
  }

  @Test func `a tone at half of full scale is at -9 dB in its band`() {
    let levels = levels(channels: 2, frequency: 650, rate: 48000, period: 64)
    #expect(abs(levels[1] + 9.03) < 0.1 && levels[0] < -12 && levels[2] < -12)
  }

  @Test func `four hops at once have the same levels as four hops one after the other`() {
    var tone = SampleBuffer(frameCount: 40 * 128, channelCount: 1)
    for frame in 0..<tone.frameCount {
      // 40 dB per second.
      let amplitude = 0.1 * pow(100, Double(frame) / 48000)
      tone[frame] = Float(amplitude * sin(2 * Double.pi * 2200 * Double(frame) / 48000))
    }
    func levels(hopsAtOnce: Int) -> SIMD4<Float> {
      var bands = HopLevels(sampleRate: 48000, channelCount: 1)
      bands.analyse(hopsAtOnce: hopsAtOnce)
      var (done, calls) = (0, 0)
      while done < tone.frameCount {
        done = bands.listen(tone, from: done, to: tone.frameCount).stop
        bands.finishHops()
        calls += 1
      }
      #expect(bands.hopFrames == 128 && calls == 40 / hopsAtOnce)
      return bands.levels
    }
    let (single, four) = (levels(hopsAtOnce: 1), levels(hopsAtOnce: 4))
    for band in 0..<4 { #expect(abs(single[band] - four[band]) < 0.05) }
  }

  @Test func `the energies of the latest four hops are in order and form the level`() {
    var bands = HopLevels(sampleRate: 48000, channelCount: 1)
    var tone = SampleBuffer(frameCount: 20 * bands.hopFrames, channelCount: 1)
    for frame in 0..<tone.frameCount {
      // The amplitude doubles from hop to hop.
      let amplitude = pow(2, Double(frame / bands.hopFrames) - 20)
      tone[frame] = Float(amplitude * sin(2 * Double.pi * 2200 * Double(frame) / 48000))
    }
    var done = 0
    for _ in 0..<20 {
      done = bands.listen(tone, from: done, to: tone.frameCount).stop
      bands.finishHops()
    }
    let energies = bands.energies(band: 2)
    for age in 0..<3 { #expect(energies[age] > 3 * energies[age + 1]) }
    #expect(abs(10 * log10(energies.sum() / 4) - bands.levels[2]) < 0.01)
  }

  /// Returns the levels after 100 hops of white noise that starts `hopsLate` hops and one frame
  /// late, or at once for 0.
  private func noiseLevels(hopsLate: Int, isPrecise: Bool) -> SIMD4<Float> {
    var bands = HopLevels(sampleRate: 48000, channelCount: 1)
    if isPrecise { bands.bePrecise() }
    var chance = Chance(7)
    let late = hopsLate * bands.hopFrames + (hopsLate > 0 ? 1 : 0)
    var noise = SampleBuffer(frameCount: 200 * bands.hopFrames, channelCount: 1)
    for frame in late..<noise.frameCount { noise[frame] = Float(chance.next()) }
    var done = 0
    for _ in 0..<100 + hopsLate {
      done = bands.listen(noise, from: done, to: noise.frameCount).stop
      bands.finishHops()
    }
    return bands.levels
  }

  @Test func `the level of noise is independent of its start if all frames are measured`() {
    func difference(isPrecise: Bool) -> Float {
      let levels = noiseLevels(hopsLate: 0, isPrecise: isPrecise)
      let late = noiseLevels(hopsLate: 5, isPrecise: isPrecise)
      return (0..<4).map { abs(levels[$0] - late[$0]) }.max() ?? 0
    }
    #expect(difference(isPrecise: true) < 0.25)
    #expect(difference(isPrecise: false) > 0.5)
  }
}

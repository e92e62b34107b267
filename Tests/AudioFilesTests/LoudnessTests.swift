import AudioBasics
import AudioFiles
import Glibc
import Testing

@Suite struct LoudnessTests {
  private func add(
    _ seconds: Double, dBFS: Double, hertz: Double, channels: [Bool], to meter: inout LoudnessMeter
  ) {
    let frames = Int(seconds * 48000)
    var buffer = SampleBuffer(frameCount: frames, channelCount: channels.count)
    let amplitude = pow(10, dBFS / 20)
    for frame in 0..<frames {
      let sample = Float(amplitude * sin(2 * .pi * hertz * Double(frame) / 48000))
      for (channel, sounds) in channels.enumerated() where sounds {
        buffer[frame * channels.count + channel] = sample
      }
    }
    meter.add(buffer, frames: frames)
  }

  private func loudness(of meter: borrowing LoudnessMeter) -> Double {
    meter.integratedLUFS ?? 0
  }

  @Test func `a stereo tone at -23 dBFS is -23 LUFS`() {
    var meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
    add(20, dBFS: -23, hertz: 1000, channels: [true, true], to: &meter)
    #expect(abs(loudness(of: meter) + 23) < 0.1)
    let peaks = meter.samplePeaks
    #expect(peaks.allSatisfy { abs($0 - 0.0707946) < 1e-6 })
  }

  @Test func `a full-scale tone in one channel is -3.01 LUFS`() {
    var meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
    add(10, dBFS: 0, hertz: 997, channels: [true, false], to: &meter)
    #expect(abs(loudness(of: meter) + 3.01) < 0.05)
    let peaks = meter.samplePeaks
    #expect(peaks[1] == 0)
  }

  @Test func `what is far quieter does not count`() {
    var meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
    for level in [-72.0, -36, -23, -36, -72] {
      let seconds = level == -23 ? 60.0 : 10
      add(seconds, dBFS: level, hertz: 1000, channels: [true, true], to: &meter)
    }
    #expect(abs(loudness(of: meter) + 23) < 0.1)
  }

  @Test func `silence has no loudness, and no number does no harm`() {
    var meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
    add(2, dBFS: -200, hertz: 1000, channels: [true, true], to: &meter)
    let silence = meter.integratedLUFS
    #expect(silence == nil)
    var broken = SampleBuffer(frameCount: 10, channelCount: 2)
    broken[3] = .nan
    meter.add(broken, frames: 10)
    add(20, dBFS: -23, hertz: 1000, channels: [true, true], to: &meter)
    #expect(abs(loudness(of: meter) + 23) < 0.1)
  }
}

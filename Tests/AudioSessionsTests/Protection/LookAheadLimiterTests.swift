import AudioBasics
import AudioLevels
import AudioSessions
import Glibc
import RealtimeAudio
import Testing

@Suite struct LookAheadLimiterTests {
  private func tone(_ hertz: Double, peak: Double, frames: Int) -> [Float] {
    (0..<frames).flatMap { frame -> [Float] in
      let sample = Float(peak * sin(2 * .pi * hertz * Double(frame) / 48000 + 0.4))
      return [sample, sample]
    }
  }

  private func limiter(
    milliseconds: Double, truePeak: Bool = false, limit: Float = 0.891
  ) -> Limiter {
    Limiter(
      limit: limit, sampleRate: 48000, channelCount: 2, lookAheadSeconds: milliseconds / 1000,
      limitsTruePeak: truePeak)
  }

  private func truePeak(_ samples: [Float]) -> Float {
    var buffer = SampleBuffer(frameCount: samples.count / 2, channelCount: 2)
    for index in samples.indices { buffer[index] = samples[index] }
    var peaks = TruePeaks(sampleRate: 48000, channelCount: 2)
    peaks.add(buffer, frames: samples.count / 2)
    return peaks.highest
  }

  @Test(arguments: [1, 7, 64, 480], [false, true])
  func `samples below the limit pass bit for bit, after the delay`(
    period: Int, truePeak: Bool
  ) {
    var limiter = limiter(milliseconds: 5, truePeak: truePeak)
    let delay = limiter.delayFrames
    #expect(truePeak ? delay > 240 && delay < 260 : delay == 240)
    let samples = limiterNoise(frames: 4800, peak: truePeak ? 0.2 : 0.89)
    let result = limited(samples, by: &limiter, period: period)
    let delayed = Array(result.dropFirst(2 * delay))
    let isDelayed = delayed == Array(samples.prefix(delayed.count))
    let isSilent = result.prefix(2 * delay).allSatisfy { $0 == 0 }
    #expect(isDelayed && isSilent && limiter.limitedFrames == 0)
  }

  @Test(arguments: [1, 7, 64, 480], [0.02, 0.1, 5, 100])
  func `nothing above the limit comes out, however loud the input is`(
    period: Int, milliseconds: Double
  ) {
    var limiter = limiter(milliseconds: milliseconds)
    let result = limited(limiterNoise(frames: 9600, peak: 30), by: &limiter, period: period)
    let peak = result.map(abs).max() ?? 0
    #expect(peak <= 0.891 && peak > 0.8 && limiter.limitedFrames > 9000)
  }

  @Test func `the gain falls smoothly before a peak, and a peak is not clipped`() {
    // A quiet signal with one sample far above the limit.
    var samples = [Float](repeating: 0.1, count: 2 * 9600)
    samples[2 * 4800] = 4
    var limiter = limiter(milliseconds: 5, limit: 0.5)
    let result = limited(samples, by: &limiter)
    let peak = result[2 * (4800 + 240)]
    #expect(peak <= 0.5 && peak > 0.49)
    // The other channel is only attenuated, by at most 1/60 of its level from frame to frame.
    var highestStep: Float = 0
    for frame in 300..<9600 {
      let step: Float = result[2 * frame + 1] - result[2 * frame - 1]
      highestStep = max(highestStep, abs(step))
    }
    #expect(highestStep < 0.1 / 60)
  }

  @Test(arguments: [100.0, 997, 1000, 5003], [false, true])
  func `a tone 6 dB above the limit has less than -90 dB of distortion`(
    hertz: Double, truePeak: Bool
  ) {
    var limiter = limiter(milliseconds: 5, truePeak: truePeak)
    let all = limited(tone(hertz, peak: 1.78, frames: 96000), by: &limiter)
    let heard = (48000..<96000).map { Double(all[2 * $0]) }
    let decibels = distortionDecibels(of: heard, hertz: hertz)
    #expect(decibels < -90, "\(decibels) dB")
  }

  @Test func `after a peak the samples pass bit for bit again`() {
    var limiter = limiter(milliseconds: 5, limit: 0.5)
    _ = limited(limiterNoise(frames: 4800, peak: 1), by: &limiter)
    let soft = limiterNoise(frames: 96000, peak: 0.1)
    let result = limited(soft, by: &limiter)
    let isSame = result.suffix(2000) == soft.dropLast(480).suffix(2000)
    #expect(isSame && limiter.gain > 0.999_999)
  }

  @Test(arguments: [3000.0, 11987, 12000])
  func `the true peak stays within 0.1 dB of the limit`(hertz: Double) {
    let samples = tone(hertz, peak: 1.78, frames: 48000) + limiterNoise(frames: 24000, peak: 2)
    var plain = limiter(milliseconds: 5)
    let over = truePeak(limited(samples, by: &plain))
    var limiter = limiter(milliseconds: 5, truePeak: true)
    let held = truePeak(limited(samples, by: &limiter))
    #expect(over > 0.95)
    #expect(held < 0.891 * 1.0115 && held > 0.8, "\(held)")
  }

  @Test(arguments: [0.0, 5]) func `the microphone has faded out when the unit ends`(
    milliseconds: Double
  ) {
    let limiter: Limiter? = milliseconds > 0 ? self.limiter(milliseconds: milliseconds) : nil
    var protection = MonitorProtection(
      sampleRate: 48000, dimRequest: PublishedFlag().makeView(), limiter: limiter)
    var bus = MixerBus(periodFrames: 64, channelCount: 2)
    var last: [Float] = []
    for frame in stride(from: 0, to: 6400, by: 64) {
      bus.begin(frames: 64, at: .start)
      for sample in 0..<128 { bus.buffer[sample] = 0.5 }
      protection.processMicrophone(&bus, framesLeft: 6400 - frame)
      protection.processMix(&bus)
      for sample in 0..<128 { last.append(bus.buffer[sample]) }
    }
    var highestStep: Float = 0
    for sample in stride(from: 2000, to: last.count, by: 2) {
      let step: Float = last[sample] - last[sample - 2]
      highestStep = max(highestStep, abs(step))
    }
    let end = abs(last[last.count - 1])
    #expect(end < 0.005 && highestStep < 0.005)
  }
}

import AudioBasics
import AudioSessions
import Glibc
import Testing

@Suite struct LimiterTests {
  @Test(arguments: [1, 7, 64, 480])
  func `samples below the limit pass bit for bit`(period: Int) {
    var limiter = Limiter(limit: 0.891, sampleRate: 48000)
    let samples = limiterNoise(frames: 4800, peak: 0.89)
    let result = limited(samples, by: &limiter, period: period)
    #expect(result == samples && limiter.limitedFrames == 0)
  }

  @Test(arguments: [1, 7, 64, 480])
  func `nothing above the limit comes out, however loud the input is`(period: Int) {
    var limiter = Limiter(limit: 0.891, sampleRate: 48000)
    let result = limited(limiterNoise(frames: 4800, peak: 30), by: &limiter, period: period)
    let peak = result.map(abs).max() ?? 0
    #expect(peak <= 0.891 && peak > 0.8 && limiter.limitedFrames > 0)
  }

  @Test func `after a peak the samples pass bit for bit again`() {
    var limiter = Limiter(limit: 0.5, sampleRate: 8000)
    _ = limited(limiterNoise(frames: 100, peak: 1), by: &limiter, period: 64)
    let soft = limiterNoise(frames: 24000, peak: 0.1)
    let result = limited(soft, by: &limiter, period: 64)
    let isSame = result.suffix(2000) == soft.suffix(2000)
    #expect(isSame && limiter.gain == 1)
  }

  /// With one or two channels four frames are limited at a time, with three channels each frame
  /// separately.
  @Test(arguments: [1, 7, 64, 480], [0, 0.016])
  func `a third channel of silence does not change the result`(period: Int, holdSeconds: Double) {
    func limited(channels: Int) -> (left: [Float], frames: Int) {
      var limiter = Limiter(limit: 0.5, sampleRate: 48000, holdSeconds: holdSeconds)
      var buffer = SampleBuffer(frameCount: period, channelCount: channels)
      var left: [Float] = []
      for start in stride(from: 0, to: 9600, by: period) {
        buffer.clear(frames: period)
        for frame in 0..<period {
          let time = Float(start + frame)
          buffer[frame * channels] = sin(time * 0.3) * (0.6 + 0.5 * sin(time * 0.002))
        }
        limiter.process(&buffer, frames: period)
        left += (0..<period).map { buffer[$0 * channels] }
      }
      return (left, limiter.limitedFrames)
    }
    let wanted = limited(channels: 3)
    for channels in 1...2 {
      let result = limited(channels: channels)
      #expect(result.frames == wanted.frames)
      #expect(zip(result.left, wanted.left).allSatisfy { abs($0 - $1) < 1e-5 })
    }
  }

  @Test(arguments: [16, 64, 480])
  func `steady noise above the limit is attenuated by a constant gain`(period: Int) {
    var limiter = Limiter(limit: 0.5, sampleRate: 48000)
    let noise = limiterNoise(frames: 48000, peak: 1)
    _ = limited(noise, by: &limiter, period: period)
    let gain = limiter.gain
    let result = limited(noise, by: &limiter, period: period)
    let isConstant = zip(noise, result).allSatisfy { $1 == $0 * gain }
    #expect(isConstant && gain > 0.496 && gain < 0.504)
  }

  @Test func `both channels are attenuated by the same gain`() {
    var limiter = Limiter(limit: 0.5, sampleRate: 48000)
    var samples: [Float] = []
    for _ in 0..<100 { samples += [1, 0.25] }
    let result = limited(samples, by: &limiter, period: 64)
    let areLinked = (0..<100).allSatisfy { abs(result[2 * $0] - 4 * result[2 * $0 + 1]) < 1e-5 }
    #expect(areLinked && limiter.limitedFrames == 100)
  }

  /// Returns one channel of the limited signal, with two equal channels as input.
  private func heard(_ signal: (Double) -> Double, seconds: Double) -> [Double] {
    var limiter = Limiter(limit: 0.891, sampleRate: 48000)
    let samples = (0..<Int(clamping: seconds * 48000)).flatMap { frame in
      let sample = Float(signal(Double(frame) / 48000))
      return [sample, sample]
    }
    let result = limited(samples, by: &limiter, period: 64)
    return stride(from: 0, to: result.count, by: 2).map { Double(result[$0]) }
  }

  @Test(arguments: [40.0, 100, 997, 1000, 5003])
  func `a tone 6 dB above the limit gets no harmonics above -100 dB`(hertz: Double) {
    let all = self.heard({ 1.78 * sin(2 * .pi * hertz * $0) }, seconds: 2)
    let heard = Array(all[48000...])
    let decibels = distortionDecibels(of: heard, hertz: hertz)
    #expect(decibels < -100, "\(decibels) dB")
  }

  @Test func `a soft sound is within 1 dB a tenth of a second after a drum 7 dB over the limit`() {
    func pad(_ time: Double) -> Double { 0.1 * sin(2 * .pi * 997 * time) }
    func drum(_ time: Double) -> Double {
      time < 0.5 ? 0 : 2 * exp((0.5 - time) / 0.08) * sin(2 * .pi * 50 * (time - 0.5))
    }
    let heard = self.heard({ pad($0) + drum($0) }, seconds: 0.8)
    // The gain of each frame: the output divided by the input.
    let lowest = (28800..<38400).compactMap { frame -> Double? in
      let time = Double(frame) / 48000
      let sample = pad(time) + drum(time)
      return abs(sample) > 0.001 ? heard[frame] / sample : nil
    }.min()
    #expect((lowest ?? 0) > 0.891)
  }

  /// Returns a limiter of each kind: with a hold, without one, and with a look-ahead.
  private func limiter(kind: Int, limit: Float, seconds: Double = 0.016) -> Limiter {
    kind < 2
      ? Limiter(
        limit: limit, sampleRate: 48000, holdSeconds: kind == 0 ? seconds : 0,
        releaseSeconds: seconds)
      : Limiter(
        limit: limit, sampleRate: 48000, channelCount: 2, lookAheadSeconds: 0.001,
        limitsTruePeak: kind == 3, holdSeconds: seconds, releaseSeconds: seconds)
  }

  @Test(arguments: 0...3, [Float.nan, .infinity, -Float.infinity])
  func `a sample that is no finite number becomes silence, and only that one`(
    kind: Int, odd: Float
  ) {
    for peak in [Float(0.2), 2] {
      var limiter = limiter(kind: kind, limit: 0.891)
      var samples = limiterNoise(frames: 4800, peak: peak)
      for index in [0, 1, 4001, 5777] { samples[index] = odd }
      let result = limited(samples, by: &limiter, period: 64)
      let isBounded = result.allSatisfy { abs($0) <= 0.891 }
      #expect(isBounded && limiter.silencedSamples == 4)
      guard peak < 0.891 else { continue }
      let delay = 2 * limiter.delayFrames
      let later = zip(samples, result.dropFirst(delay))
      let isSame = later.allSatisfy { $1 == ($0.isFinite ? $0 : 0) }
      #expect(isSame && limiter.limitedFrames == 0)
    }
  }

  @Test(arguments: 0...3, [Float.nan, -1, -Float.infinity, 0])
  func `a limit that is no level is silence`(kind: Int, limit: Float) {
    var limiter = limiter(kind: kind, limit: limit)
    #expect(limiter.limit == 0)
    let first = limited(limiterNoise(frames: 4800, peak: 1), by: &limiter, period: 64)
    limiter.limit = 0.5
    limiter.limit = limit
    #expect(limiter.limit == 0)
    let second = limited(limiterNoise(frames: 4800, peak: 1), by: &limiter, period: 64)
    let isSilent = (first + second).allSatisfy { $0 == 0 }
    #expect(isSilent)
  }

  @Test(arguments: 0...3, [Double.nan, .infinity, -Double.infinity, -1, 1e300])
  func `times out of their range are the nearest ones`(kind: Int, seconds: Double) {
    var limiter = limiter(kind: kind, limit: 0.5, seconds: seconds)
    let result = limited(limiterNoise(frames: 4800, peak: 1), by: &limiter, period: 64)
    let isBounded = result.allSatisfy { abs($0) <= 0.5 }
    #expect(isBounded)
  }
}

import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio
import Testing

@Suite struct MonitorProtectionTests {
  private let rate = 48000
  private let period = 64

  /// Returns the output for a microphone with a constant level of 0.5. `lost` and `left` return the
  /// numbers of lost and remaining frames passed to each cycle.
  private func heard(
    _ protection: inout MonitorProtection, cycles: Int, lost: (Int) -> Int = { _ in 0 },
    left: (Int) -> Int = { _ in .max }
  ) -> [Float] {
    var result: [Float] = []
    var bus = MixerBus(periodFrames: period, channelCount: 1)
    for cycle in 0..<cycles {
      for index in 0..<period { bus.buffer[index] = 0.5 }
      bus.begin(
        frames: period,
        at: CycleTime(frame: cycle * period, nanoseconds: 0, lostFrames: lost(cycle)))
      protection.processMicrophone(&bus, framesLeft: left(cycle))
      protection.processMix(&bus)
      for index in 0..<period { result.append(bus.buffer[index]) }
    }
    return result
  }

  private func steepest(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst()).map { abs($1 - $0) }.max() ?? 0
  }

  @Test func `sound without feedback below the limit passes bit for bit`() {
    var protection = MonitorProtection(sampleRate: rate, dimRequest: PublishedFlag().makeView())
    protection.limiter = Limiter(limit: 0.891, sampleRate: rate)
    protection.feedbackSuppressor = FeedbackSuppressor(
      sampleRate: rate, channelCount: 1, events: FeedbackEventWriter(sampleRate: rate))
    let result = heard(&protection, cycles: 400)
    let isSame = result.allSatisfy { $0 == 0.5 }
    #expect(isSame)
  }

  @Test func `a dimmed output is attenuated as requested, and returns without a click`() {
    var wish = PublishedFlag()
    var protection = MonitorProtection(sampleRate: rate, dimRequest: wish.makeView())
    protection.dimGain = Gain(factor: 0.1)
    var result = heard(&protection, cycles: 20)
    wish.publish(true)
    result += heard(&protection, cycles: 50)
    wish.publish(false)
    result += heard(&protection, cycles: 50)
    let (before, dimmed, after) = (result[20 * 64 - 1], result[70 * 64 - 1], result.last)
    #expect(before == 0.5 && dimmed == 0.05 && after == 0.5)
    #expect(steepest(result) < 0.001)
  }

  @Test func `lost frames leave silence, after which the microphone fades in`() {
    var protection = MonitorProtection(sampleRate: rate, dimRequest: PublishedFlag().makeView())
    let result = heard(&protection, cycles: 60, lost: { $0 == 20 ? 480 : 0 })
    let (first, last) = (result[20 * 64], result.last)
    let climb = steepest(Array(result[(20 * 64)...]))
    #expect(first == 0 && last == 0.5 && climb < 0.001)
  }

  @Test(arguments: [480, 500, 64, 10])
  func `the microphone fades out before the end`(known: Int) {
    var protection = MonitorProtection(sampleRate: rate, dimRequest: PublishedFlag().makeView())
    // The end is known `known` frames in advance.
    let cycles = 20 + (known + period - 1) / period
    let result = heard(
      &protection, cycles: cycles, left: { $0 < 20 ? .max : known - ($0 - 20) * 64 })
    let end = 20 * period + known
    let (before, last) = (result[20 * period - 1], result[end - 1])
    let fall = steepest(Array(result[..<end]))
    #expect(
      before == 0.5 && last < 0.51 / Float(min(known, 400)) && fall < 0.51 / Float(min(known, 400)))
  }
}

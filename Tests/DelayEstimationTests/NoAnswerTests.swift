import AudioBasics
import DelayEstimation
import Glibc
import TestSupport
import Testing

/// Tests with recordings that do not contain the probe.
@Suite struct NoAnswerTests {
  private let rate = 16000

  private func expectNoAnswer(_ recording: [Float], seed: UInt64 = 1) {
    let probe = ProbeSignal(seed: seed, frames: rate).samples
    let found = DelayEstimator().estimate(reference: probe.span, in: recording.span)
    #expect(found == nil, "found \(found?.delayFrames ?? 0) with a score of \(found?.score ?? 0)")
  }

  @Test func `silence gives no estimate`() {
    expectNoAnswer(Array(repeating: 0, count: 3 * rate))
  }

  @Test func `an empty recording gives no estimate`() {
    expectNoAnswer([])
  }

  @Test func `noise gives no estimate`() {
    var random = SplitMix64(seed: 1)
    for seed in 0..<30 {
      expectNoAnswer((0..<3 * rate).map { _ in Float(random.normal()) }, seed: UInt64(seed))
    }
  }

  @Test func `another probe gives no estimate`() {
    for seed in 2..<20 {
      expectNoAnswer(ProbeSignal(seed: UInt64(seed), frames: 2 * rate).samples)
    }
  }

  @Test(arguments: [50.0, 60, 440, 7000])
  func `hum and tones give no estimate`(frequency: Double) {
    expectNoAnswer(
      (0..<3 * rate).map { frame in
        let phase = 2 * Double.pi * frequency * Double(frame) / Double(rate)
        return Float(0.5 * sin(phase) + 0.2 * sin(3 * phase) + 0.1 * sin(5 * phase))
      })
  }

  @Test func `a signal like speech gives no estimate`() {
    var random = SplitMix64(seed: 8)
    for seed in 0..<10 {
      // Syllables: a buzz with a varying pitch, or a hiss, separated by pauses.
      var recording: [Float] = []
      while recording.count < 3 * rate {
        let length = Int(clamping: random.uniform(0.05...0.25) * Double(rate))
        let pitch = random.uniform(90...250)
        let kind = random.uniform(0...1)
        let level = random.uniform(0.05...0.9)
        for frame in 0..<length {
          let place = Double(frame) / Double(length)
          let phase = pitch * Double(frame) / Double(rate)
          let buzz = 2 * (phase - phase.rounded(.down)) - 1
          let sound = kind < 0.5 ? buzz : kind < 0.75 ? random.normal() * 0.4 : 0
          recording.append(Float(level * sound * sin(Double.pi * place)))
        }
      }
      expectNoAnswer(recording, seed: UInt64(seed))
    }
  }

  @Test func `a click gives no estimate`() {
    var recording = [Float](repeating: 0, count: 2 * rate)
    recording[5000] = 1
    expectNoAnswer(recording)
  }
}

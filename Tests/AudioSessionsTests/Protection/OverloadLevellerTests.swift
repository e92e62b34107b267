import AudioBasics
import AudioDevices
import Testing

@testable import AudioSessions

@Suite struct OverloadLevellerTests {
  /// Limits one hop of a loud sound. Returns its highest magnitude.
  private func peak(_ leveller: inout OverloadLeveller) -> Float {
    var bus = MixerBus(periodFrames: 128, channelCount: 1)
    bus.begin(frames: 128, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
    for frame in 0..<128 { bus.buffer[frame] = frame % 2 == 0 ? 0.9 : -0.9 }
    bus.measurePeak()
    leveller.process(&bus, isHeld: false)
    let (peak, bound) = (bus.buffer.peak(frames: 128), bus.peakBound)
    #expect(peak <= bound && bound <= 0.9)
    return peak
  }

  @Test func `a sound is held 24 dB below full scale, and released again`() {
    var leveller = OverloadLeveller(fullScale: 1, sampleRate: 48000)
    let before = peak(&leveller)
    leveller.begin()
    for _ in 0..<10 { _ = leveller.follow(gain: 0.1, isOverdriven: false) }
    let held = Decibels.level(peak(&leveller))
    #expect(before == 0.9 && held < -22)
    leveller.end()
    for _ in 0..<200 { _ = peak(&leveller) }
    let (after, isTransparent) = (peak(&leveller), leveller.isTransparent)
    #expect(after == 0.9 && isTransparent)
  }

  @Test func `a level is stable after 26 hops without a change`() {
    var leveller = OverloadLeveller(fullScale: 1, sampleRate: 48000)
    leveller.begin()
    for hop in 1..<40 {
      // The gain changes until the tenth hop.
      let gain = Float(max(0.1, 1 - 0.1 * Double(hop)))
      let state = leveller.follow(gain: gain, isOverdriven: false)
      #expect(state == (hop >= 34 ? .stable : .unstable), "hop \(hop)")
    }
  }

  @Test func `a sound that overdrives the microphone for 75 hops is external`() {
    var leveller = OverloadLeveller(fullScale: 0.5, sampleRate: 48000)
    let isOverdriven = [0.499, 0.49].map { leveller.isOverdriven(peak: $0) }
    #expect(isOverdriven == [true, false])
    leveller.begin()
    for hop in 1...76 {
      let state = leveller.follow(gain: 0.1, isOverdriven: true)
      #expect(state == (hop > 75 ? .external : .unstable), "hop \(hop)")
    }
  }

  @Test func `a sound that mostly overdrives the microphone is external between its peaks, too`() {
    for (period, wanted) in [(3, OverloadLeveller.State.external), (2, .stable)] {
      var leveller = OverloadLeveller(fullScale: 1, sampleRate: 48000)
      leveller.begin()
      var state = OverloadLeveller.State.unstable
      for hop in 0..<76 {
        let isOverdriven = period == 3 ? hop % 3 != 0 : hop % 2 == 0
        state = leveller.follow(gain: 0.1, isOverdriven: isOverdriven)
      }
      #expect(state == wanted)
    }
  }

  @Test func `another full scale of the microphone moves the limit only while nothing is held`() {
    var leveller = OverloadLeveller(fullScale: 1, sampleRate: 48000)
    leveller.begin()
    let held = peak(&leveller)
    leveller.setFullScale(2)
    let later = peak(&leveller)
    leveller.end()
    let fullScale = leveller.fullScale
    #expect(abs(later - held) < 0.01 && fullScale == 2)
  }
}

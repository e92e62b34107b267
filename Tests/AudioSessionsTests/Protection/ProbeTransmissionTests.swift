import AudioBasics
import Testing

@testable import AudioSessions

@Suite struct ProbeTransmissionTests {
  private static let hopFrames = 128

  /// Returns the levels in dB of ones after a transmission, in the last frame of each hop, where a
  /// ramp is one step from its end.
  private func levels(_ transmission: inout ProbeTransmission, hops: Int) -> [Double] {
    (0..<hops).map { _ in
      var sound = SampleBuffer(frameCount: Self.hopFrames, channelCount: 1)
      for frame in 0..<Self.hopFrames { sound[frame] = 1 }
      transmission.process(&sound, frames: Self.hopFrames)
      return Decibels.level(sound[Self.hopFrames - 1])
    }
  }

  @Test(arguments: [false, true])
  func `the level falls in each dip of the code`(isDeep: Bool) {
    var transmission = ProbeTransmission(hopFrames: Self.hopFrames)
    #expect(transmission.isTransparent)
    transmission.begin(isDeep: isDeep, after: 0)
    let levels = levels(&transmission, hops: ProbeCode.hops + 2)
    for (hop, level) in levels.enumerated() {
      let wanted = ProbeCode.isDip(hop) ? Double(ProbeSequence.dip(isDeep: isDeep)) : 0
      #expect(abs(level - wanted) < 0.05, "hop \(hop)")
    }
  }

  @Test func `a code begins after the requested frames, within a hop`() {
    var transmission = ProbeTransmission(hopFrames: Self.hopFrames)
    transmission.begin(isDeep: true, after: 5 * Self.hopFrames + 64)
    let levels = levels(&transmission, hops: ProbeCode.hops + 10)
    let first = 5 + ((0..<ProbeCode.hops).first(where: ProbeCode.isDip) ?? 0)
    #expect(levels.prefix(first).allSatisfy { $0 == 0 })
    // The ramp of the first dip is half done at the end of this hop.
    #expect(levels[first] < -1 && levels[first] > -2)
    #expect(abs(levels[first + 1] + 3) < 0.05)
  }

  @Test func `a code that is paused keeps its gain, and one that ends returns to unity`() {
    var transmission = ProbeTransmission(hopFrames: Self.hopFrames)
    transmission.begin(isDeep: true, after: 0)
    let first = (0..<ProbeCode.hops).first(where: ProbeCode.isDip) ?? 0
    _ = levels(&transmission, hops: first + 2)
    transmission.pause()
    let paused = levels(&transmission, hops: 9)
    #expect(!transmission.isSending && paused.allSatisfy { abs($0 + 3) < 0.01 })
    transmission.end()
    _ = levels(&transmission, hops: 1)
    #expect(transmission.isTransparent)
  }
}

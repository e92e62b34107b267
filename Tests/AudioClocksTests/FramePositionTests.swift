import Testing

@testable import AudioClocks

@Suite struct FramePositionTests {
  @Test(arguments: [0, 0.75, 1e9 + 0.5, -0.25, -3, -1e9 - 0.125])
  func `a position returns the frames from which it was created`(frames: Double) {
    #expect(FramePosition(frames).frames == frames)
  }

  @Test func `the error of an hour of steps is below 1e-6 frames`() {
    var position = FramePosition(0)
    let step = FramePosition(1.000_012_345_678_9)
    // One hour at 48 kHz is 172.8 times as many steps, and the error grows in proportion.
    for _ in 0..<1_000_000 { position.advance(by: step) }
    #expect(abs(position.frames - 1_000_012.345_678_9) < 1e-6 / 172.8)
  }

  @Test func `moving back and forth returns to the same position`() {
    var position = FramePosition(5.3)
    let start = position
    for _ in 0..<1000 { position.advance(by: FramePosition(-0.1)) }
    #expect(position.frame == -95)
    for _ in 0..<1000 { position.advance(by: FramePosition(0.1)) }
    #expect(abs(position.frames - start.frames) < 1e-12)
  }

  @Test func `a ramp ends exactly at its target`() {
    var ramp = RatioRamp()
    ramp.ramp(to: 1.7, over: 7)
    for _ in 0..<6 { ramp.next() }
    #expect(abs(ramp.ratios.now - 1.6) < 1e-12)
    ramp.next()
    #expect(ramp.ratios.now == 1.7)
    ramp.next()
    #expect(ramp.ratios.now == 1.7)
    ramp.ramp(to: 0.5, over: 0)
    #expect(ramp.ratios.now == 0.5)
  }
}

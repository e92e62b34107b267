import AudioSessions
import Testing

/// Tests of the time between a request and its audible effect.
@Suite struct KeyDelayTests {
  /// The decoder thread runs every 20 ms: 15 cycles of 64 frames. A key is pressed at any time
  /// between two steps.
  @Test(arguments: 0..<15)
  func `the effect of a key is audible 23 to 43 ms later`(cyclesAfterStep: Int) throws {
    let rig = try PlayerRig()
    try rig.enqueue(CountedFile(frames: 480_000))
    rig.player.play()
    var heard: [Float] = []
    for cycle in 0..<600 {
      heard += cycle % 15 == 0 ? rig.cycle() : rig.hear()
      if cycle == 300 + cyclesAfterStep { try rig.player.seek(toSeconds: 8) }
    }
    let asked = (301 + cyclesAfterStep) * 64
    let frames = numbers(heard)
    let first = (asked..<frames.count).first { frames[$0] != frames[$0 - 1] + 1 } ?? frames.count
    let milliseconds = Double(first - asked) / 48
    #expect(milliseconds > 22.5 && milliseconds < 43.5)
  }
}

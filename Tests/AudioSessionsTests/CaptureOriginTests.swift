import AudioDevices
import Testing

@testable import AudioSessions

@Suite struct CaptureOriginTests {
  /// Returns the time of a cycle of 480 frames (10 ms) that is noticed `microseconds` late.
  private func time(_ cycle: Int, late microseconds: Int) -> CycleTime {
    CycleTime(
      frame: cycle * 480,
      nanoseconds: UInt64(1_000_000_000 + (cycle + 1) * 10_000_000 + microseconds * 1000),
      lostFrames: 0)
  }

  @Test func `the earliest of all wake-ups determines the time of the first frame`() {
    var origin = CaptureOrigin(sampleRate: 48000)
    let view = origin.makeView()
    origin.note(480, at: time(0, late: 5000))
    #expect(view.value == 1_005_000_000)
    origin.note(480, at: time(1, late: 0))
    #expect(view.value == 1_000_000_000)
    // A late wake-up raises the estimate only by the tolerance of 200 ppm of 10 ms.
    origin.note(480, at: time(2, late: 5000))
    #expect(view.value == 1_000_002_000)
    origin.note(480, at: time(3, late: 9000))
    #expect(view.value == 1_000_004_000)
    origin.note(480, at: time(4, late: 1))
    #expect(view.value == 1_000_001_000)
  }
}

import AudioDevices
import AudioSessions
import RealtimeAudio
import Testing

@testable import duplex

/// Tests of the totals of several successive sessions.
@Suite struct SessionTotalsTests {
  @Test func `events of a later session are offset by the frames of earlier sessions`() {
    var totals = SessionTotals()
    for (frames, frame) in [(1000, 10), (500, 20), (700, 30)] {
      var report = SessionReport()
      report.frames = frames
      report.events = [TimelineEvent(kind: .captureXrun, frame: frame, frames: 5)]
      totals.add(report)
    }
    #expect(totals.report.frames == 2200)
    #expect(totals.report.events.map(\.frame) == [10, 1020, 1530])
  }

  @Test func `a user's request to end replaces a regular end at the same time`() {
    func name(_ reason: StopReason, _ asked: StopReason?) -> String {
      reason.superseded(by: asked).name
    }
    #expect(name(.duration, .signal) == "signal" && name(.end, .key) == "key")
    #expect(name(.duration, nil) == "duration" && name(.end, nil) == "end")
    #expect(name(.disk, .signal) == "disk" && name(.silence, .signal) == "silence")
  }
}

/// The periodic work of a recording's disk thread. Each interval is counted in frames, so that it
/// is the same in virtual time.
struct RecordingSchedule {
  /// When headers are updated. An interval is checked at the next step, which may be 50 ms later:
  /// no header is older than 250 ms.
  var headers: FrameInterval
  /// When written data is synchronized with the disk. Data written during a synchronization waits
  /// for one more interval.
  var syncs: FrameInterval
  /// When levels are published: as often as a panel shows them.
  var states: FrameInterval
  /// When the free space on the disk is checked.
  var spaceChecks: FrameInterval

  /// Creates the schedule of a recording according to `plan`.
  init(_ plan: RecordingPlan) {
    headers = FrameInterval(plan.sampleRate / 5)
    syncs = FrameInterval(Int(clamping: plan.syncSeconds * Double(plan.sampleRate) / 2))
    states = FrameInterval(plan.sampleRate / 20)
    spaceChecks = FrameInterval(plan.sampleRate, isDueAtOnce: true)
  }

  /// Adds `frames` frames that have passed.
  mutating func pass(_ frames: Int) {
    headers.pass(frames)
    syncs.pass(frames)
    states.pass(frames)
    spaceChecks.pass(frames)
  }
}

/// A periodic event, counted in frames.
struct FrameInterval {
  private let length: Int
  private var passed = 0

  /// Creates an event that is due every `length` frames; with `isDueAtOnce` also with the first
  /// ones.
  init(_ length: Int, isDueAtOnce: Bool = false) {
    self.length = max(1, length)
    if isDueAtOnce { passed = self.length }
  }

  /// Adds `frames` frames that have passed.
  mutating func pass(_ frames: Int) {
    passed += frames
  }

  /// Returns whether the event is due; if so, the interval starts again.
  mutating func takeDue() -> Bool {
    guard passed >= length else { return false }
    passed = 0
    return true
  }
}

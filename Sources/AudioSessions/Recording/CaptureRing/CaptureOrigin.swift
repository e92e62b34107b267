// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// When a recording's first frame was captured, worked out anew with every cycle.
///
/// A cycle that woke up late would make it later than it was: the earliest answer is the true one.
/// It may rise by 200 ppm, which is more than any card's clock strays from the host's, so that it
/// stays true for days.
struct CaptureOrigin: ~Copyable {
  private var published = AtomicCounter()
  private let sampleRate: Int
  private var firstFrame = -1
  private var nanoseconds = 0

  init(sampleRate: Int) {
    self.sampleRate = max(1, sampleRate)
  }

  borrowing func makeView() -> CountView {
    published.makeView()
  }

  /// Hears of a cycle of `frames` frames.
  @_noLocks
  mutating func note(_ frames: Int, at time: CycleTime) {
    let isFirst = firstFrame < 0
    // A gap before the first frame is recorded, as silence.
    if isFirst { firstFrame = time.frame &- time.lostFrames }
    let passed = time.frame &- firstFrame &+ frames
    let length = FrameTime.nanoseconds(of: passed, at: sampleRate)
    let found = Int(truncatingIfNeeded: time.nanoseconds &- length)
    let leak = frames &* 200_000 / sampleRate
    nanoseconds = isFirst ? found : min(found, nanoseconds &+ leak)
    published.publish(nanoseconds)
  }
}

// Audio thread.
import AudioBasics

/// A detector for pauses of a sound server's output that is played without input.
///
/// The plugins of PipeWire and JACK run in this process: if it is stopped, they stop as well. The
/// queued frames are then played afterwards, and no xrun is reported, although nothing was played
/// for that time.
struct OutputPause: BitwiseCopyable {
  /// The time in nanoseconds between two cycles after which the output has paused: twice as long as
  /// the buffer lasts, because a server takes up to a whole buffer at once. 0 for other devices.
  private let limitNanoseconds: UInt64
  private var lastReadyTime: UInt64 = 0
  /// Whether a pause was detected that was not reported yet.
  private(set) var isUnreported = false

  /// Creates the detector of an output whose buffer holds `bufferFrames` frames; 0 for a device
  /// that reports xruns.
  @_noLocks
  init(bufferFrames: Int, sampleRate: Int) {
    limitNanoseconds =
      bufferFrames > 0 ? 2 &* FrameTime.nanoseconds(of: bufferFrames, at: sampleRate) : 0
  }

  /// Notes that the device starts: an xrun was reported, or nothing was played before.
  @_noLocks
  mutating func restart() { lastReadyTime = 0 }

  /// Notes that the device is ready for a cycle at `nanoseconds`.
  @_noLocks @inline(__always)
  mutating func note(readyAt nanoseconds: UInt64) {
    guard limitNanoseconds > 0 else { return }
    if lastReadyTime != 0, nanoseconds &- lastReadyTime > limitNanoseconds { isUnreported = true }
    lastReadyTime = nanoseconds
  }

  /// Returns the event of a pause; nil if there is none.
  @_noLocks
  mutating func takeEvent() -> DeviceEvent? {
    guard isUnreported else { return nil }
    isUnreported = false
    return DeviceEvent(.playbackXrun)
  }
}

import AudioBasics
import RealtimeAudio

/// The time at which a frame was captured, on two clocks. The difference between them changes if
/// the wall clock is set during the recording.
struct CaptureTime: Sendable, Equatable {
  /// Nanoseconds since 1970, for names and metadata.
  var wall: UInt64
  /// Nanoseconds of the device's clock, for the time that has passed.
  var device: Int

  /// Returns the time `frames` frames later.
  func advanced(by frames: Int, at sampleRate: Int) -> CaptureTime {
    let length = FrameTime.nanoseconds(of: frames, at: sampleRate)
    return CaptureTime(wall: wall &+ length, device: device &+ Int(clamping: length))
  }
}

/// The conversion from times of the device's clock to wall-clock time.
struct WallClock: Sendable {
  private let isVirtual: Bool

  /// Uses the host's clock, or virtual time, which begins in 1970 so that all runs are equal.
  init(isVirtual: Bool) {
    self.isVirtual = isVirtual
  }

  /// Returns the time of a frame that was captured at `nanoseconds` of the device's clock. Computed
  /// from both clocks in each call, because the wall clock may be set.
  func time(at nanoseconds: Int) -> CaptureTime {
    CaptureTime(wall: wallTime(at: nanoseconds), device: nanoseconds)
  }

  private func wallTime(at nanoseconds: Int) -> UInt64 {
    if isVirtual { return UInt64(max(0, nanoseconds)) }
    let ago = Int(clamping: HostClock.nanoseconds) &- nanoseconds
    return UInt64(max(0, Int(clamping: WallTime.nanoseconds) &- ago))
  }

  /// The nanoseconds since 1970 before any device runs.
  var start: UInt64 { isVirtual ? 0 : WallTime.nanoseconds }
}

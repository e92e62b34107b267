// Audio thread.

/// The number of frames that an input lost, in xruns and without them, and that the unit does not
/// know of yet.
struct LostFrameCounter: BitwiseCopyable {
  private let sampleRate: Int
  private var gap = XrunGapEstimator()
  /// The frames that a server's input loses without an xrun; nil for other inputs.
  private var dropped: DroppedFrameEstimator?
  private var count = 0

  /// Creates a counter for an input with this configuration; nil without an input.
  init(_ capture: StreamConfiguration?, sampleRate: Int) {
    self.sampleRate = sampleRate
    if let capture, let seconds = capture.catchUpSeconds {
      dropped = DroppedFrameEstimator(
        capacity: capture.bufferFrames, sampleRate: capture.sampleRate, catchUpSeconds: seconds)
    }
  }

  /// Whether a gap began whose length is not known yet.
  var isGapOpen: Bool {
    @_noLocks get { gap.isOpen }
  }

  /// Stores the time in nanoseconds of the first start, from which time counts until the first
  /// wake-up.
  mutating func begin(at nanoseconds: UInt64) {
    gap.note(captured: 0, taking: 0, at: nanoseconds)
  }

  /// Notes that the input starts again.
  mutating func restart() { dropped?.restart() }

  /// Opens a gap: the input stopped at a time in nanoseconds with `unread` captured frames; at the
  /// last wake-up if `stop` is nil.
  mutating func openGap(_ stop: (unread: Int, nanoseconds: UInt64)?) {
    if let stop {
      gap.open(unread: stop.unread, at: stop.nanoseconds)
    } else {
      gap.open()
    }
  }

  /// Closes the gap: the input runs again and has `captured` frames at `nanoseconds`.
  @_noLocks
  mutating func closeGap(captured: Int, at nanoseconds: UInt64) {
    count &+= gap.close(captured: captured, at: nanoseconds, sampleRate: sampleRate)
  }

  /// Stores a wake-up that found `captured` frames, of which the cycle reads `frames`.
  @_noLocks @inline(__always)
  mutating func note(captured: Int, taking frames: Int, at nanoseconds: UInt64) {
    count &+= dropped?.note(captured: captured, taking: frames, at: nanoseconds) ?? 0
    gap.note(captured: captured, taking: frames, at: nanoseconds)
  }

  /// Corrects the last wake-up: the cycle could not read its `frames` frames.
  @_noLocks
  mutating func undoRead(_ frames: Int) { gap.undoRead(frames) }

  /// Returns the number of lost frames since the last call.
  @_noLocks
  mutating func take() -> Int {
    let lost = count
    count = 0
    return lost
  }
}

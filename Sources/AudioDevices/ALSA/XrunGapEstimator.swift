// Audio thread.

import AudioBasics

/// An estimate of the number of frames lost while a device was stopped: the time from one known
/// position of the input to another, multiplied by the rate, minus the frames that were kept.
struct XrunGapEstimator: BitwiseCopyable {
  /// Whether a gap began whose length is not known yet.
  private(set) var isOpen = false
  /// The last known position: the number of frames captured and not read, and the time in
  /// nanoseconds.
  private var unread = 0
  private var nanoseconds: UInt64 = 0
  /// The time of the wake-up before that, of which all frames were read.
  private var readNanoseconds: UInt64 = 0
  /// The number of frames read since the device started, and all bits that were ever set in a
  /// position of the device: the lowest of them is the step in which the position advances.
  private var taken = 0
  private var positions = 0

  @_noLocks
  init() {}

  /// Stores a wake-up that found `captured` frames, of which the cycle reads `frames`.
  @_noLocks
  mutating func note(captured: Int, taking frames: Int, at nanoseconds: UInt64) {
    positions |= taken &+ captured
    taken &+= frames
    unread = captured &- frames
    readNanoseconds = self.nanoseconds
    self.nanoseconds = nanoseconds
  }

  /// Corrects the last wake-up: the cycle could not read its `frames` frames.
  @_noLocks
  mutating func undoRead(_ frames: Int) {
    unread &+= frames
    taken &-= frames
  }

  /// Opens a gap: the device stopped with `unread` captured frames, which are lost. A gap that is
  /// already open continues, because no frame was read since. If the reported stop is earlier than
  /// a period that was read, it is wrong (a plugin reports the time of its start), and the last
  /// wake-up is used instead.
  mutating func open(unread: Int, at nanoseconds: UInt64) {
    guard !isOpen else { return }
    guard nanoseconds >= readNanoseconds else { return open() }
    positions |= taken &+ unread
    taken = 0
    self.unread = unread
    self.nanoseconds = nanoseconds
    isOpen = true
  }

  /// Opens a gap of a device that does not report when it stopped: the last wake-up is used.
  mutating func open() {
    taken = 0
    isOpen = true
  }

  /// Closes the gap: the device runs again and has `captured` frames at `nanoseconds`. Returns the
  /// number of lost frames.
  @_noLocks
  mutating func close(captured: Int, at nanoseconds: UInt64, sampleRate: Int) -> Int {
    isOpen = false
    guard nanoseconds >= self.nanoseconds else { return max(0, unread) }
    let passed = Int(
      clamping: FrameTime.frames(in: nanoseconds &- self.nanoseconds, at: sampleRate) + 0.5)
    positions |= captured
    return snapped(max(0, unread &+ passed &- captured), sampleRate: sampleRate)
  }

  /// Rounds the number of lost frames to the device's step. A device that advances in steps of many
  /// frames, at its own ticks, is found a little later than its tick, by a delay that depends on
  /// the load of the machine. If a whole number of steps differs by no more than that delay, 150
  /// microseconds, it is the number of lost frames.
  @_noLocks
  private func snapped(_ frames: Int, sampleRate: Int) -> Int {
    let step = positions & (0 &- positions)
    guard step >= 16 else { return frames }
    let nearest = (frames &+ step / 2) / step &* step
    let off = nearest > frames ? nearest &- frames : frames &- nearest
    return off <= min(step / 4, sampleRate &* 3 / 20_000) ? nearest : frames
  }
}

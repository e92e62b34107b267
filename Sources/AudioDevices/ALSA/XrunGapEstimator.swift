// Audio thread.

/// Works out how many frames were lost while a device stood still: the time from one known
/// position of the input to another, times the rate, less what was kept.
struct XrunGapEstimator: BitwiseCopyable {
  /// Whether a gap began whose length is not known yet.
  private(set) var isOpen = false
  /// The last known position: this many frames were captured and not taken at this time.
  private var unread = 0
  private var nanoseconds: UInt64 = 0
  /// The wake-up before that, of which all frames were read.
  private var readNanoseconds: UInt64 = 0
  /// Frames taken since the device started, and all bits that were ever set in a position it was
  /// found at: the lowest of them is the step in which it moves.
  private var taken = 0
  private var positions = 0

  @_noLocks
  init() {}

  /// Remembers a wake-up that found `captured` frames, of which the cycle takes `frames`.
  @_noLocks
  mutating func note(captured: Int, taking frames: Int, at nanoseconds: UInt64) {
    positions |= taken &+ captured
    taken &+= frames
    unread = captured &- frames
    readNanoseconds = self.nanoseconds
    self.nanoseconds = nanoseconds
  }

  /// The cycle could not take its `frames` after all.
  @_noLocks
  mutating func giveBack(_ frames: Int) {
    unread &+= frames
    taken &-= frames
  }

  /// The device stopped with `unread` captured frames, which are lost. A gap that is open already
  /// goes on: no frame was read since. A device that stopped before a period that was read does not
  /// say when it stopped (a plugin says when it started): the last wake-up must do.
  mutating func open(unread: Int, at nanoseconds: UInt64) {
    guard !isOpen else { return }
    guard nanoseconds >= readNanoseconds else { return open() }
    positions |= taken &+ unread
    taken = 0
    self.unread = unread
    self.nanoseconds = nanoseconds
    isOpen = true
  }

  /// The device stopped and does not say when: the last wake-up must do.
  mutating func open() {
    taken = 0
    isOpen = true
  }

  /// The device runs again and has `captured` frames at `nanoseconds`: how many were lost?
  @_noLocks
  mutating func close(captured: Int, at nanoseconds: UInt64, sampleRate: Int) -> Int {
    isOpen = false
    guard nanoseconds >= self.nanoseconds else { return max(0, unread) }
    let elapsed = Double(nanoseconds &- self.nanoseconds) * 1e-9
    let passed = Int(clamping: elapsed * Double(sampleRate) + 0.5)
    positions |= captured
    return snapped(max(0, unread &+ passed &- captured), sampleRate: sampleRate)
  }

  /// A device that moves in steps of many frames, at ticks of its own, is found a little later than
  /// its tick, sooner or later by how busy the machine is. Where a whole number of steps is no
  /// further off than that, 150 microseconds, it is what was lost.
  @_noLocks
  private func snapped(_ frames: Int, sampleRate: Int) -> Int {
    let step = positions & (0 &- positions)
    guard step >= 16 else { return frames }
    let nearest = (frames &+ step / 2) / step &* step
    let off = nearest > frames ? nearest &- frames : frames &- nearest
    return off <= min(step / 4, sampleRate &* 3 / 20_000) ? nearest : frames
  }
}

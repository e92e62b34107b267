// Audio thread.

/// The schedule of simulated faults, in the device's own frames: xruns, unplugging and return.
struct ScheduledFaults: ~Copyable, Sendable {
  /// The number of frames that an overrun loses.
  let xrunFrames: Int
  /// The frame of the next overrun; `Int.max` for never.
  private(set) var nextXrun: Int
  private let xruns: [Int]
  private var index = 0
  /// The frames at which the device goes away and comes back, one for each time.
  private let unplugs: [Int]
  private let replugs: [Int]
  private var unplugIndex = 0

  /// Creates the schedule of a device that runs at `sampleRate` Hz and has an xrun at each of
  /// `xrunSeconds`.
  init(
    _ specification: SimulatedDeviceSpecification, xrunSeconds: [Double], sampleRate: Int
  ) {
    let rate = Double(sampleRate)
    func frame(_ seconds: Double) -> Int { Int(rounding: seconds * rate) }
    xrunFrames = specification.xrunFrames
    let xruns = xrunSeconds.map(frame)
    self.xruns = xruns
    nextXrun = xruns.first ?? .max
    let absences = specification.absences
    unplugs = absences.map { frame($0.seconds) }
    replugs = absences.map { frame($0.returnSeconds) }
  }

  /// Continues at `frame`: earlier faults are past. The next overrun is also past if it was the
  /// cause (`hasOverrun`), even if it lost so few frames that its time is still ahead.
  @_noLocks
  mutating func resume(at frame: Int, hasOverrun: Bool) {
    if hasOverrun { passOverrun() }
    while nextXrun < frame { passOverrun() }
    while isBack(at: frame) { unplugIndex &+= 1 }
  }

  @_noLocks
  private mutating func passOverrun() {
    index &+= 1
    nextXrun = index < xruns.count ? xruns[index] : .max
  }

  /// The frame at which the device goes away next, or went away; `Int.max` for never.
  var unplugFrame: Int {
    @_noLocks get { unplugIndex < unplugs.count ? unplugs[unplugIndex] : .max }
  }

  /// The frame at which it comes back from that absence; `Int.max` for never.
  var replugFrame: Int {
    @_noLocks get { unplugIndex < replugs.count ? replugs[unplugIndex] : .max }
  }

  /// Returns whether the device is back at `frame`.
  @_noLocks
  func isBack(at frame: Int) -> Bool {
    replugFrame <= frame
  }
}

// Audio thread.

/// The schedule of simulated faults, in the device's own frames: xruns, unplugging and return.
struct ScheduledFaults: ~Copyable, Sendable {
  /// Frames that an overrun loses.
  let xrunFrames: Int
  /// When the next overrun comes; `Int.max` for never.
  private(set) var nextXrun: Int
  private let xruns: [Int]
  private var index = 0
  /// When the device goes away and comes back, each time.
  private let unplugs: [Int]
  private let replugs: [Int]
  private var absence = 0

  init(_ specification: SimulatedDeviceSpecification) {
    let rate = Double(specification.sampleRate)
    func frame(_ seconds: Double) -> Int { Int(rounding: seconds * rate) }
    xrunFrames = specification.xrunFrames
    let xruns = specification.xrunSeconds.map(frame)
    self.xruns = xruns
    nextXrun = xruns.first ?? .max
    let absences = specification.absences
    unplugs = absences.map { frame($0.seconds) }
    replugs = absences.map { frame($0.returnSeconds) }
  }

  /// The device goes on at `frame`: what was to happen before is past, and so is the next overrun
  /// where it was the reason (`hasOverrun`), even if it lost so few frames that its time is still
  /// to come.
  @_noLocks
  mutating func resume(at frame: Int, hasOverrun: Bool) {
    if hasOverrun { passOverrun() }
    while nextXrun < frame { passOverrun() }
    while isBack(at: frame) { absence &+= 1 }
  }

  @_noLocks
  private mutating func passOverrun() {
    index &+= 1
    nextXrun = index < xruns.count ? xruns[index] : .max
  }

  /// When the device goes away next, or went; `Int.max` for never.
  var unplugFrame: Int {
    @_noLocks get { absence < unplugs.count ? unplugs[absence] : .max }
  }

  /// When it comes back from that; `Int.max` for never.
  var replugFrame: Int {
    @_noLocks get { absence < replugs.count ? replugs[absence] : .max }
  }

  /// Whether the device is there again at `frame`.
  @_noLocks
  func isBack(at frame: Int) -> Bool {
    replugFrame <= frame
  }
}

// Audio thread.

/// The absence of an input that went away: from its loss to its first frames after its return. A
/// device that is back only briefly counts as away since its first loss.
struct InputAbsence: BitwiseCopyable {
  /// Whether the input is detached until it is found again.
  private(set) var isAway = false
  /// The position of the input when it went away; nil while it is present.
  private(set) var startFrame: Int?
  /// The number of frames of silence lent in place of the input's frames.
  private var silentFrames = 0
  /// The number of unit frames of the absence that the timeline leaves out: they count as lost.
  private var leftOutFrames = 0
  /// The event that must still be reported to the unit.
  private var event: DeviceEvent?

  /// Begins the absence of an input whose next frame would be `head`.
  @_noLocks
  mutating func begin(at head: Int) {
    isAway = true
    guard startFrame == nil else { return }
    startFrame = head
    event = DeviceEvent(.captureLost)
  }

  /// Notes that the device is back, and has not delivered frames yet.
  @_noLocks
  mutating func reattach() { isAway = false }

  /// Counts `frames` frames of silence.
  @_noLocks
  mutating func addSilence(_ frames: Int) { silentFrames += frames }

  /// Notes that the timeline leaves out `frames` unit frames.
  @_noLocks
  mutating func noteJump(_ frames: Int) {
    if startFrame != nil { leftOutFrames += frames }
  }

  /// Ends the absence, which was `frames` unit frames long. These are silence on the timeline
  /// unless the input is the unit's clock master, whose frames are missing from it.
  @_noLocks
  mutating func end(frames: Int, isMaster: Bool) {
    startFrame = nil
    event = DeviceEvent(
      .captureReturned, frames: frames,
      silentFrames: isMaster ? silentFrames : max(0, frames - leftOutFrames))
    (silentFrames, leftOutFrames) = (0, 0)
  }

  /// Whether an event was not reported yet.
  var hasEvent: Bool {
    @_noLocks get { event != nil }
  }

  /// Returns an event that was not reported yet; nil if there is none.
  @_noLocks
  mutating func takeEvent() -> DeviceEvent? {
    defer { event = nil }
    return event
  }
}

// Audio thread.
import CALSA

/// Sleeps until a PCM says that it is due. One descriptor set, one wake-up a period.
struct WakeUp: ~Copyable {
  /// What ended a sleep.
  enum Cause: BitwiseCopyable {
    case due, late, troubled
  }

  /// Frames that must be there (or free) for a wake-up to count.
  let availableFrames: Int
  private let handle: OpaquePointer
  private let descriptors: UnsafeMutablePointer<pollfd>
  private let count: Int
  private let timeoutMilliseconds: Int32

  /// For `pcm`, which outlives it. A sleep lasts two periods or a tenth of a second at most.
  init(for pcm: borrowing PCM, availableFrames: Int) throws(DeviceFailure) {
    handle = pcm.handle
    self.availableFrames = availableFrames
    count = Int(snd_pcm_poll_descriptors_count(pcm.handle))
    guard count > 0 else {
      throw PCMFailure.refused(
        pcm.name, pcm.direction, "waiting without blocking", hint: "Name another device.")
    }
    descriptors = .allocate(capacity: count)
    descriptors.initialize(repeating: pollfd(), count: count)
    snd_pcm_poll_descriptors(pcm.handle, descriptors, UInt32(count))
    let stream = pcm.configuration
    timeoutMilliseconds = Int32(max(100, 2000 * stream.periodFrames / max(1, stream.sampleRate)))
  }

  deinit {
    descriptors.deallocate()
  }

  @_noLocks
  func sleep() -> Cause {
    let result = duplex_sleep(descriptors, count, timeoutMilliseconds)
    // An interrupted sleep is none: the caller looks at the device and sleeps again.
    if result < 0 { return .due }
    if result == 0 { return .late }
    var events: UInt16 = 0
    snd_pcm_poll_descriptors_revents(
      handle, descriptors, UInt32(truncatingIfNeeded: count), &events)
    let bad = UInt16(truncatingIfNeeded: POLLERR | POLLNVAL | POLLHUP)
    return events & bad == 0 ? .due : .troubled
  }
}

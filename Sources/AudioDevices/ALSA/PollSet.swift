// Audio thread.
import CALSA
import Glibc
import RealtimeAudio

/// Sleeps until a PCM says that it is due, or the thread is interrupted. One descriptor set, one
/// wake-up a period.
struct PollSet: ~Copyable {
  /// The reason why a sleep ended.
  enum Cause: BitwiseCopyable {
    case due, late, troubled
  }

  /// Frames that must be there (or free) for a wake-up to count.
  let availableFrames: Int
  private let handle: OpaquePointer
  private let descriptors: UnsafeMutablePointer<pollfd>
  private let count: Int
  /// Hardware's own queue; -1 for plugins, whose descriptors need translation.
  private let waiting: Int32

  /// For `pcm`, which outlives it.
  init(for pcm: borrowing PCM, availableFrames: Int) throws(DeviceFailure) {
    handle = pcm.handle
    self.availableFrames = availableFrames
    count = Int(snd_pcm_poll_descriptors_count(pcm.handle))
    guard count > 0 else {
      throw PCMFailure.refused(
        pcm.name, pcm.direction, "cannot be polled", hint: "Name another device.")
    }
    descriptors = .allocate(capacity: count)
    descriptors.initialize(repeating: pollfd(), count: count)
    snd_pcm_poll_descriptors(pcm.handle, descriptors, UInt32(count))
    let isHardware = snd_pcm_type(pcm.handle) == SND_PCM_TYPE_HW && count == 1
    waiting = isHardware ? duplex_open_waiting(descriptors) : -1
  }

  deinit {
    descriptors.deallocate()
    if waiting >= 0 { close(waiting) }
  }

  /// Whether a card is waited for as it is, and no plugin.
  var isHardware: Bool { @_noLocks get { waiting >= 0 } }

  /// Sleeps for at most `milliseconds`; -1 for no limit, which is the rule: a timer would cost the
  /// kernel a sixth of the cycle. A device that stands still is found by the thread that watches
  /// this one and interrupts it.
  @_noLocks
  func sleep(milliseconds: Int32) -> Cause {
    let bad = UInt16(truncatingIfNeeded: POLLERR | POLLNVAL | POLLHUP)
    if waiting >= 0 {
      let events = duplex_sleep_waiting(waiting, milliseconds)
      if events == 0 { return .late }
      return UInt16(truncatingIfNeeded: events) & bad == 0 ? .due : .troubled
    }
    guard duplex_sleep(descriptors, count, milliseconds) > 0 else { return .late }
    // Plugins may wait on something else, and say what it means.
    var events: UInt16 = 0
    snd_pcm_poll_descriptors_revents(
      handle, descriptors, UInt32(truncatingIfNeeded: count), &events)
    return events & bad == 0 ? .due : .troubled
  }

  /// Woken with `frames` frames too few. Plugins do that, and would do it again at once: the pulse
  /// plugin calls an output due as long as its server takes anything at all. Half the time of
  /// those frames passes, and a millisecond at most, since they may come several at once.
  @_noLocks
  func rest(missing frames: Int, sampleRate: Int) {
    guard !isHardware else { return }
    let half = UInt64(truncatingIfNeeded: frames) &* 500_000_000 / UInt64(sampleRate)
    HostClock.sleep(until: HostClock.nanoseconds &+ max(100_000, min(half, 1_000_000)))
  }
}

// Audio thread.
import CALSA
import Glibc
import RealtimeAudio

/// A set of descriptors with which a thread sleeps until a PCM is due or the thread is interrupted.
/// There is one descriptor set and one wake-up per period.
struct PollSet: ~Copyable {
  /// The reason why a sleep ended.
  enum Cause: BitwiseCopyable {
    /// The PCM is due.
    case due
    /// The time is over, or the thread was interrupted.
    case timedOut
    /// The PCM reports an error.
    case failed
  }

  /// The number of frames that must be available (or free) for a wake-up to count.
  let availableFrames: Int
  private let handle: OpaquePointer
  private let descriptors: UnsafeMutablePointer<pollfd>
  private let count: Int
  /// The epoll descriptor of a hardware PCM; -1 for plugins, whose descriptors need translation.
  private let waiting: Int32

  /// Creates a poll set for `pcm`, which must outlive it. Throws if the PCM cannot be polled.
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

  /// Whether the PCM is a card without a plugin.
  var isHardware: Bool { @_noLocks get { waiting >= 0 } }

  /// Sleeps for at most `milliseconds`; -1 means no limit, which is the usual case: a timer would
  /// cost the kernel a sixth of the cycle. The thread that watches this one detects a stalled
  /// device and interrupts the sleep.
  @_noLocks
  func sleep(milliseconds: Int32) -> Cause {
    let bad = UInt16(truncatingIfNeeded: POLLERR | POLLNVAL | POLLHUP)
    if waiting >= 0 {
      let events = duplex_sleep_waiting(waiting, milliseconds)
      if events == 0 { return .timedOut }
      return UInt16(truncatingIfNeeded: events) & bad == 0 ? .due : .failed
    }
    guard duplex_sleep(descriptors, count, milliseconds) > 0 else { return .timedOut }
    // Plugins may wait for other events, and translate them.
    var events: UInt16 = 0
    snd_pcm_poll_descriptors_revents(
      handle, descriptors, UInt32(truncatingIfNeeded: count), &events)
    return events & bad == 0 ? .due : .failed
  }

  /// Sleeps after a wake-up with `frames` frames too few. Plugins cause such wake-ups, and would
  /// cause the next one at once: the pulse plugin reports an output as due as long as its server
  /// accepts any frames. The sleep lasts for half the duration of those frames, but at least 0.1
  /// ms, and at most 1 ms because several may arrive at once.
  @_noLocks
  func rest(missing frames: Int, sampleRate: Int) {
    guard !isHardware else { return }
    let half = UInt64(truncatingIfNeeded: frames) &* 500_000_000 / UInt64(sampleRate)
    HostClock.sleep(until: HostClock.nanoseconds &+ max(100_000, min(half, 1_000_000)))
  }
}

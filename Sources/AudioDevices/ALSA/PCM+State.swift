// Audio thread.
import CALSA
import Glibc
import RealtimeAudio

/// What a PCM knows of its own position in time, and how it is stopped and woken.
extension PCM {
  /// As `available`, asked of the kernel rather than read from the mapped page.
  @_noLocks
  func availableNow() -> Int {
    snd_pcm_avail(handle)
  }

  /// Frames between the converter and the program, as the driver counts them; 0 where it does not.
  @_noLocks
  func delay() -> Int {
    var frames: snd_pcm_sframes_t = 0
    return snd_pcm_delay(handle, &frames) == 0 ? frames : 0
  }

  /// Starts it from the audio thread.
  @_noLocks
  func startNow() -> Bool {
    snd_pcm_start(handle) == 0
  }

  /// Frames captured and the time for which that holds: the driver's timestamp where it makes
  /// sense, else what the caller saw and when.
  @_noLocks
  func stamped(_ available: Int, at now: UInt64) -> (captured: Int, nanoseconds: UInt64) {
    var frames: snd_pcm_uframes_t = 0
    var time = snd_htimestamp_t()
    guard snd_pcm_htimestamp(handle, &frames, &time) == 0 else { return (available, now) }
    let stamp = Self.nanoseconds(time)
    return Self.isPlausible(stamp, now: now)
      ? (Int(bitPattern: frames), stamp) : (available, now)
  }

  /// The frames nobody read and the time at which it stopped, where the driver tells.
  func stoppedState() -> (unread: Int, nanoseconds: UInt64)? {
    var allocated: OpaquePointer?
    guard snd_pcm_status_malloc(&allocated) == 0, let status = allocated else { return nil }
    defer { snd_pcm_status_free(status) }
    guard snd_pcm_status(handle, status) == 0 else { return nil }
    var time = snd_htimestamp_t()
    snd_pcm_status_get_trigger_htstamp(status, &time)
    let stamp = Self.nanoseconds(time)
    guard Self.isPlausible(stamp, now: HostClock.nanoseconds) else { return nil }
    return (Int(snd_pcm_status_get_avail(status)), stamp)
  }

  /// Some plugins stamp with zero, with the wall clock or with nonsense.
  @_noLocks
  private static func isPlausible(_ stamp: UInt64, now: UInt64) -> Bool {
    stamp > 0 && stamp <= now && now &- stamp < 3_600_000_000_000
  }

  @_noLocks
  private static func nanoseconds(_ time: snd_htimestamp_t) -> UInt64 {
    UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000
      &+ UInt64(bitPattern: Int64(time.tv_nsec))
  }

  /// Wakes it after the machine slept. It may stay prepared: whoever calls starts it anyway.
  func resume() {
    guard snd_pcm_state(handle) == SND_PCM_STATE_SUSPENDED else { return }
    for _ in 0..<200 where snd_pcm_resume(handle) == -EAGAIN {
      usleep(10_000)
    }
  }

  /// Lets what is queued be heard. ALSA's own drain can hang, so the buffer is watched for as long
  /// as it must take to run dry and half a second more.
  func drain() {
    let rate = max(1, configuration.sampleRate)
    let keepsTime = keepsTime
    let inside = configuration.bufferFrames - max(0, available())
    // A sound server has taken frames from the buffer that it has not played yet.
    let queued = max(inside, keepsTime ? delay() : 0)
    let deadline =
      HostClock.nanoseconds + UInt64(queued) * 1_000_000_000 / UInt64(rate) + 500_000_000
    while HostClock.nanoseconds < deadline {
      let free = availableNow()
      // Running dry is what it is meant to do here, and what ALSA calls an xrun.
      if free < 0 || free >= configuration.bufferFrames { break }
      usleep(2000)
    }
    while keepsTime, delay() > 0, HostClock.nanoseconds < deadline { usleep(2000) }
    // A server's idea of its own delay is a little behind.
    if keepsTime, snd_pcm_type(handle) != SND_PCM_TYPE_HW { usleep(60_000) }
    // Files behind plugins are written now; hardware has nothing left to wait for.
    snd_pcm_drain(handle)
  }
}

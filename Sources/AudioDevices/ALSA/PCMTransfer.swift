// Audio thread.

import AudioBasics
import CALSA
import Glibc
import RealtimeAudio

/// The access modes by which ALSA transfers frames, best first.
enum PCMAccess: CaseIterable {
  case mappedInterleaved, mappedPlanar, copiedInterleaved, copiedPlanar

  /// Whether frames are written to and read from the device's own memory.
  var isMapped: Bool {
    @_noLocks get { self == .mappedInterleaved || self == .mappedPlanar }
  }

  var code: snd_pcm_access_t {
    switch self {
    case .mappedInterleaved: SND_PCM_ACCESS_MMAP_INTERLEAVED
    case .mappedPlanar: SND_PCM_ACCESS_MMAP_NONINTERLEAVED
    case .copiedInterleaved: SND_PCM_ACCESS_RW_INTERLEAVED
    case .copiedPlanar: SND_PCM_ACCESS_RW_NONINTERLEAVED
    }
  }
}

/// The transfer of frames between the unit and a PCM: in the device's own memory, or through a
/// separate buffer that ALSA copies.
struct PCMTransfer: ~Copyable {
  let access: PCMAccess
  let isMapped: Bool
  let isPlanarCopy: Bool
  /// The layout of all channels of the device, and of the channels that the unit uses.
  private(set) var deviceLayout: DeviceLayout
  private(set) var layout: DeviceLayout
  private let selection: ChannelSelection?
  private var places: ChannelOffsets
  /// The position of the pieces lent by the last `borrowFrames`: the offset of the first one in the
  /// ring buffer, and its length in frames.
  var offset: snd_pcm_uframes_t = 0
  var firstCount = 0
  /// The buffer for copying. It holds as many frames as the device's buffer, since a cycle is as
  /// long as a period of the other direction if that direction leads.
  let staging: DeviceBuffer
  /// The address in `staging` at which each channel continues, for planar copying.
  let planes: UnsafeMutablePointer<UnsafeMutableRawPointer?>

  init(
    access: PCMAccess, format: SampleFormat, channelCount: Int, selection: ChannelSelection?,
    frames: Int
  ) {
    self.access = access
    isMapped = access == .mappedInterleaved || access == .mappedPlanar
    let isPlanar = access == .copiedPlanar
    isPlanarCopy = isPlanar
    let whole =
      isPlanar
      ? DeviceLayout(
        format: format, channelCount: channelCount, frameStride: format.byteCount,
        channelStride: format.byteCount * frames)
      : DeviceLayout(interleaved: format, channelCount: channelCount)
    deviceLayout = whole
    self.selection = selection
    let places = ChannelOffsets(selection, channelStride: whole.channelStride)
    layout = DeviceLayout(whole, only: places)
    self.places = places
    staging = DeviceBuffer(whole, frameCount: isMapped ? 1 : frames)
    planes = .allocate(capacity: channelCount)
    planes.initialize(repeating: nil, count: channelCount)
  }

  deinit {
    planes.deallocate()
  }

  /// Reads the layout of the device's own memory. Returns false if its channels are not at even
  /// distances: the frames of such a device are copied instead.
  mutating func adoptAreas(_ areas: UnsafePointer<snd_pcm_channel_area_t>) -> Bool {
    let channelCount = deviceLayout.channelCount
    let first = Self.address(areas[0])
    let stride =
      channelCount > 1 ? Self.address(areas[1]) - first : deviceLayout.format.byteCount
    for channel in 0..<channelCount {
      guard Self.address(areas[channel]) == first + channel * stride,
        areas[channel].step == areas[0].step
      else { return false }
    }
    deviceLayout = DeviceLayout(
      format: deviceLayout.format, channelCount: channelCount,
      frameStride: Int(areas[0].step) / 8, channelStride: stride)
    places = ChannelOffsets(selection, channelStride: stride)
    layout = DeviceLayout(deviceLayout, only: places)
    return true
  }

  /// Whether the unit uses a selection of the device's channels.
  var isSelection: Bool { @_noLocks get { places.count != nil } }

  /// Writes silence to all channels of the `frames` frames of the device's own memory, once.
  /// Channels that the unit does not use are not written again.
  @_noLocks
  func silence(_ areas: UnsafePointer<snd_pcm_channel_area_t>, frames: Int) {
    guard let memory = areas[0].addr else { return }
    deviceLayout.clear(memory + Int(areas[0].first) / 8, frames: frames)
  }

  private static func address(_ area: snd_pcm_channel_area_t) -> Int {
    Int(bitPattern: area.addr) + Int(area.first) / 8
  }
}

/// The frames of a PCM: the number available, and reading and writing them. Calls that change
/// nothing are `mutating` too, because any other call would first copy a PCM out of its optional.
extension PCM {
  /// Returns the number of frames captured and not yet read, or free to be played. A negative value
  /// is ALSA's error code.
  @_noLocks
  mutating func available() -> Int {
    snd_pcm_avail_update(handle)
  }

  /// Lends the next `frames` frames of the device's memory, or copies them out of it (capture).
  /// Returns nil if they are not available or the device failed.
  @_noLocks
  mutating func borrowFrames(_ frames: Int) -> DeviceFrames? {
    guard transfer.isMapped else { return copiedFrames(frames) }
    var areas: UnsafePointer<snd_pcm_channel_area_t>?
    var offset: snd_pcm_uframes_t = 0
    var count = snd_pcm_uframes_t(bitPattern: frames)
    guard snd_pcm_mmap_begin(handle, &areas, &offset, &count) == 0, let areas else { return nil }
    transfer.offset = offset
    transfer.firstCount = min(frames, Int(bitPattern: count))
    // There are fewer frames than requested, and the ring does not end here: they are not
    // available.
    let end = Int(bitPattern: offset) &+ transfer.firstCount
    guard transfer.firstCount == frames || end == configuration.bufferFrames else { return nil }
    guard let memory = areas[0].addr else { return nil }
    // If the ring wraps, the rest is at its start.
    let start = memory + Int(areas[0].first / 8)
    return DeviceFrames(
      first: start + Int(bitPattern: offset) &* transfer.layout.frameStride, second: start,
      firstCount: transfer.firstCount, frameCount: frames, layout: transfer.layout)
  }

  /// Releases `frames` of the lent frames (capture), or hands them over to be played. Returns false
  /// if the device failed.
  @_noLocks
  mutating func returnFrames(_ frames: Int) -> Bool {
    guard transfer.isMapped else { return isCapture || copyStaged(frames) == frames }
    var rest = frames
    var offset = transfer.offset
    var piece = min(frames, transfer.firstCount)
    // A wrapped piece needs a separate round. Frames that a device refuses once stay in place and
    // are offered again. More rounds mean that the device accepts fewer frames.
    var rounds = 0
    while rest > 0 {
      let moved = snd_pcm_mmap_commit(handle, offset, snd_pcm_uframes_t(bitPattern: piece))
      rest &-= max(0, min(moved, piece))
      rounds &+= 1
      guard rest > 0 else { return true }
      var areas: UnsafePointer<snd_pcm_channel_area_t>?
      var count = snd_pcm_uframes_t(bitPattern: rest)
      guard rounds < 8, snd_pcm_mmap_begin(handle, &areas, &offset, &count) == 0, count > 0 else {
        return false
      }
      piece = min(rest, Int(bitPattern: count))
    }
    return true
  }

  @_noLocks
  private mutating func copiedFrames(_ frames: Int) -> DeviceFrames? {
    guard frames <= transfer.staging.frameCount, !isCapture || copyStaged(frames) == frames else {
      return nil
    }
    return transfer.staging.frames(frames, in: transfer.layout)
  }

  /// Has ALSA copy `frames` frames into the staging buffer, or out of it. Returns the number
  /// copied. Frames that ALSA refuses or leaves out once are requested again.
  @_noLocks
  private mutating func copyStaged(_ frames: Int) -> Int {
    var done = 0
    var rounds = 0
    while done < frames && rounds < 8 {
      let count = snd_pcm_uframes_t(bitPattern: frames &- done)
      let moved = transfer.isPlanarCopy ? copyPlanes(from: done, count) : copy(from: done, count)
      done &+= max(0, moved)
      rounds &+= 1
    }
    return done
  }

  @_noLocks
  private mutating func copy(from first: Int, _ count: snd_pcm_uframes_t) -> Int {
    let memory = transfer.staging.memory + first &* transfer.layout.frameStride
    return isCapture ? snd_pcm_readi(handle, memory, count) : snd_pcm_writei(handle, memory, count)
  }

  @_noLocks
  private mutating func copyPlanes(from first: Int, _ count: snd_pcm_uframes_t) -> Int {
    for channel in 0..<transfer.deviceLayout.channelCount {
      transfer.planes[channel] =
        transfer.staging.memory + channel &* transfer.deviceLayout.channelStride
        + first &* transfer.deviceLayout.frameStride
    }
    return isCapture
      ? snd_pcm_readn(handle, transfer.planes, count)
      : snd_pcm_writen(handle, transfer.planes, count)
  }

  /// Plays `frames` frames of silence. Returns the number of frames that fit.
  @_noLocks
  mutating func playSilence(_ frames: Int) -> Int {
    var done = 0
    var rounds = 0
    while done < frames && rounds < 65536 {
      let count = min(frames &- done, max(1, configuration.periodFrames))
      guard available() >= count, let room = borrowFrames(count) else { return done }
      room.clear(from: 0, frames: count)
      guard returnFrames(count) else { return done }
      done &+= count
      rounds &+= 1
    }
    return done
  }
}

/// The position and the timestamps of a PCM, and its start, resumption and drain.
extension PCM {
  /// Returns the same as `available`, but reads it from the kernel rather than from the mapped
  /// page.
  @_noLocks
  func availableNow() -> Int {
    snd_pcm_avail(handle)
  }

  /// Returns the number of frames between the converter and the program, as the driver counts them;
  /// 0 if it does not.
  @_noLocks
  func delay() -> Int {
    var frames: snd_pcm_sframes_t = 0
    return snd_pcm_delay(handle, &frames) == 0 ? frames : 0
  }

  /// Starts the PCM from the audio thread. Returns whether it started.
  @_noLocks
  func startNow() -> Bool {
    snd_pcm_start(handle) == 0
  }

  /// Returns the number of captured frames and the time for which it is valid: the driver's values
  /// if its timestamp is plausible, otherwise the caller's values.
  @_noLocks
  func stamped(_ available: Int, at now: UInt64) -> (captured: Int, nanoseconds: UInt64) {
    var frames: snd_pcm_uframes_t = 0
    var time = snd_htimestamp_t()
    guard snd_pcm_htimestamp(handle, &frames, &time) == 0 else { return (available, now) }
    let stamp = Self.nanoseconds(time)
    return Self.isPlausible(stamp, now: now)
      ? (Int(bitPattern: frames), stamp) : (available, now)
  }

  /// Returns the number of captured frames that were not read, or the room for frames to play, and
  /// the time at which the PCM stopped; nil if the driver does not report it.
  func stoppedState() -> (available: Int, nanoseconds: UInt64)? {
    guard let status = try? ALSAMemory(snd_pcm_status_malloc, snd_pcm_status_free),
      snd_pcm_status(handle, status.pointer) == 0
    else { return nil }
    var time = snd_htimestamp_t()
    snd_pcm_status_get_trigger_htstamp(status.pointer, &time)
    let stamp = Self.nanoseconds(time)
    guard Self.isPlausible(stamp, now: HostClock.nanoseconds) else { return nil }
    // A negative count from a plugin is not valid.
    return (max(0, Int(bitPattern: snd_pcm_status_get_avail(status.pointer))), stamp)
  }

  /// Returns whether a timestamp is plausible. Some plugins report zero, the wall clock or
  /// arbitrary values. An age that wraps around, because the stamp is in the future or below zero,
  /// is more than `now`.
  @_noLocks
  private static func isPlausible(_ stamp: UInt64, now: UInt64) -> Bool {
    now &- stamp < min(now, 3_600_000_000_000)
  }

  @_noLocks
  private static func nanoseconds(_ time: snd_htimestamp_t) -> UInt64 {
    UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000
      &+ UInt64(bitPattern: Int64(time.tv_nsec))
  }

  /// Resumes the PCM after the machine was suspended. The PCM may remain prepared: the caller
  /// starts it in any case.
  func resume() {
    guard snd_pcm_state(handle) == SND_PCM_STATE_SUSPENDED else { return }
    var attempts = 0
    while attempts < 200 && snd_pcm_resume(handle) == -EAGAIN {
      usleep(10_000)
      attempts += 1
    }
  }

  /// Waits until the queued frames are played. ALSA's own drain can hang, so the buffer is polled
  /// for as long as it takes to run dry, plus 500 ms.
  mutating func drain() {
    let rate = max(1, configuration.sampleRate)
    let keepsTime = keepsTime
    let inside = configuration.bufferFrames - max(0, available())
    // A sound server has read frames from the buffer that it has not played yet.
    let reportedDelay = max(inside, keepsTime ? delay() : 0)
    // A plugin may report wrong values; no server holds more than two seconds.
    let queued = min(max(0, reportedDelay), configuration.bufferFrames + 2 * rate)
    let deadline =
      HostClock.nanoseconds + FrameTime.nanoseconds(of: queued, at: rate) + 500_000_000
    while HostClock.nanoseconds < deadline {
      let free = availableNow()
      // An empty buffer is the purpose here, although ALSA reports it as an xrun.
      if free < 0 || free >= configuration.bufferFrames { break }
      usleep(2000)
    }
    while keepsTime, delay() > 0, HostClock.nanoseconds < deadline { usleep(2000) }
    // A server reports its delay late.
    if keepsTime, snd_pcm_type(handle) != SND_PCM_TYPE_HW { usleep(60_000) }
    // Plugins write their files now; hardware has nothing left to wait for. The wait for a server
    // that ran dry would not end.
    if !configuration.isServer { snd_pcm_drain(handle) }
  }
}

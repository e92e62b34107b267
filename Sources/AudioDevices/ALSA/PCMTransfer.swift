// Audio thread.

import AudioBasics
import CALSA
import Glibc
import RealtimeAudio

/// The ways ALSA lets frames in and out, best first.
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
/// buffer of ours that ALSA copies.
struct PCMTransfer: ~Copyable {
  let access: PCMAccess
  let isMapped: Bool
  let isPlanarCopy: Bool
  /// Where the samples lie of all channels, and of those that the unit uses.
  private(set) var deviceLayout: DeviceLayout
  private(set) var layout: DeviceLayout
  private let selection: ChannelSelection?
  private var places: ChannelOffsets
  /// Where the pieces handed out by the last `capturedFrames` or `playbackRoom` lie.
  var offset: snd_pcm_uframes_t = 0
  var firstCount = 0
  /// Memory of our own, for copying: as many frames as the device's buffer holds, since a cycle is
  /// as long as a period of the other direction where that one leads.
  let staging: DeviceBuffer
  /// Where each channel goes on in `staging`, for planar copying.
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

  /// Finds out how the device's own memory is laid out. False when its channels do not lie at
  /// even distances: such a device is copied from instead.
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

  /// Whether the unit leaves out channels of the device.
  var isSelection: Bool { @_noLocks get { places.count != nil } }

  /// Writes silence to all channels of the `frames` frames of the device's own memory, once:
  /// channels that the unit does not use are not written to again.
  @_noLocks
  func silence(_ areas: UnsafePointer<snd_pcm_channel_area_t>, frames: Int) {
    guard let memory = areas[0].addr else { return }
    deviceLayout.clear(memory + Int(areas[0].first) / 8, frames: frames)
  }

  private static func address(_ area: snd_pcm_channel_area_t) -> Int {
    Int(bitPattern: area.addr) + Int(area.first) / 8
  }
}

/// The frames of a PCM: how many are available, and reading and writing them. Calls that change
/// nothing are `mutating`, too, because any other call would first copy a PCM out of its optional.
extension PCM {
  /// Frames captured and not yet read, or free to be played. Negative: ALSA's error code.
  @_noLocks
  mutating func available() -> Int {
    snd_pcm_avail_update(handle)
  }

  /// Lends the next `frames` frames of the device's memory, or copies them out of it (capture).
  /// Nil when they are not there or the device failed.
  @_noLocks
  mutating func borrowFrames(_ frames: Int) -> DeviceFrames? {
    guard transfer.isMapped else { return copiedFrames(frames) }
    var areas: UnsafePointer<snd_pcm_channel_area_t>?
    var offset: snd_pcm_uframes_t = 0
    var count = snd_pcm_uframes_t(bitPattern: frames)
    guard snd_pcm_mmap_begin(handle, &areas, &offset, &count) == 0, let areas else { return nil }
    transfer.offset = offset
    transfer.firstCount = min(frames, Int(bitPattern: count))
    // Fewer than asked, and not because the ring ends here: they are not there.
    let end = Int(bitPattern: offset) &+ transfer.firstCount
    guard transfer.firstCount == frames || end == configuration.bufferFrames else { return nil }
    guard let memory = areas[0].addr else { return nil }
    // Where the ring wraps, the rest lies at its start.
    let start = memory + Int(areas[0].first / 8)
    return DeviceFrames(
      first: start + Int(bitPattern: offset) &* transfer.layout.frameStride, second: start,
      firstCount: transfer.firstCount, frameCount: frames, layout: transfer.layout)
  }

  /// Gives `frames` of the lent frames back (capture), or hands them over to be played. False when
  /// the device failed.
  @_noLocks
  mutating func returnFrames(_ frames: Int) -> Bool {
    guard transfer.isMapped else { return isCapture || copyStaged(frames) == frames }
    var rest = frames
    var offset = transfer.offset
    var piece = min(frames, transfer.firstCount)
    // A wrapped piece needs a round of its own. What a device refuses once stays where it lies, and
    // is offered again; more rounds mean a device that gives less.
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

  /// Has ALSA copy `frames` frames into our memory, or out of it; returns how many it did. What it
  /// refuses or leaves out once is asked for again.
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

  /// Plays `frames` frames of silence. Returns how many fitted.
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

/// The position and the timestamps of a PCM, and how it is started, resumed and drained.
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

  /// The captured frames that were not read, or the room for frames to play, and the time at which
  /// it stopped, where the driver tells.
  func stoppedState() -> (available: Int, nanoseconds: UInt64)? {
    guard let status = try? ALSAMemory(snd_pcm_status_malloc, snd_pcm_status_free),
      snd_pcm_status(handle, status.pointer) == 0
    else { return nil }
    var time = snd_htimestamp_t()
    snd_pcm_status_get_trigger_htstamp(status.pointer, &time)
    let stamp = Self.nanoseconds(time)
    guard Self.isPlausible(stamp, now: HostClock.nanoseconds) else { return nil }
    // A plugin's negative answer is a count of its own making.
    return (max(0, Int(bitPattern: snd_pcm_status_get_avail(status.pointer))), stamp)
  }

  /// Some plugins stamp with zero, with the wall clock or with nonsense. An age that wraps around,
  /// that of a stamp from the future or below zero, is more than `now`.
  @_noLocks
  private static func isPlausible(_ stamp: UInt64, now: UInt64) -> Bool {
    now &- stamp < min(now, 3_600_000_000_000)
  }

  @_noLocks
  private static func nanoseconds(_ time: snd_htimestamp_t) -> UInt64 {
    UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000
      &+ UInt64(bitPattern: Int64(time.tv_nsec))
  }

  /// Wakes it after the machine slept. It may stay prepared: the caller starts it anyway.
  func resume() {
    guard snd_pcm_state(handle) == SND_PCM_STATE_SUSPENDED else { return }
    var attempts = 0
    while attempts < 200 && snd_pcm_resume(handle) == -EAGAIN {
      usleep(10_000)
      attempts += 1
    }
  }

  /// Lets what is queued be played. ALSA's own drain can hang, so the buffer is watched for as long
  /// as it must take to run dry and half a second more.
  mutating func drain() {
    let rate = max(1, configuration.sampleRate)
    let keepsTime = keepsTime
    let inside = configuration.bufferFrames - max(0, available())
    // A sound server has taken frames from the buffer that it has not played yet.
    let told = max(inside, keepsTime ? delay() : 0)
    // A plugin may tell nonsense; no server holds more than two seconds.
    let queued = min(max(0, told), configuration.bufferFrames + 2 * rate)
    let deadline =
      HostClock.nanoseconds + FrameTime.nanoseconds(of: queued, at: rate) + 500_000_000
    while HostClock.nanoseconds < deadline {
      let free = availableNow()
      // Running dry is what it is meant to do here, and what ALSA calls an xrun.
      if free < 0 || free >= configuration.bufferFrames { break }
      usleep(2000)
    }
    while keepsTime, delay() > 0, HostClock.nanoseconds < deadline { usleep(2000) }
    // A server tells its own delay with a delay.
    if keepsTime, snd_pcm_type(handle) != SND_PCM_TYPE_HW { usleep(60_000) }
    // Files behind plugins are written now; hardware has nothing left to wait for. A server that
    // ran dry would be waited for in vain.
    if !configuration.isServer { snd_pcm_drain(handle) }
  }
}

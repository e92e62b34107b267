// Audio thread.

import CALSA

/// The two directions of a duplex device, or one of them. The input leads if there is one.
struct PCMPair: ~Copyable {
  var capture: PCM?
  var playback: PCM?
  /// Whether the directions are those of two cards, or of a card and a sound server.
  let hasTwoClocks: Bool
  /// Whether the kernel starts and stops both directions together.
  let isLinked: Bool
  /// The number of frames written to the output since the start, minus those read from the input:
  /// the number of frames that both hold together.
  private var heldFrames = 0

  /// Combines two configured PCMs, and links them if they have one clock. The kernel links the
  /// directions of two cards as well, but these have two clocks. Plugins cannot be linked.
  init(capture: consuming PCM?, playback: consuming PCM?) {
    hasTwoClocks = PCMEnd.haveTwoClocks(capture?.end, playback?.end)
    if let input = capture?.handle, let output = playback?.handle, !hasTwoClocks {
      isLinked = snd_pcm_link(input, output) == 0
    } else {
      isLinked = false
    }
    self.capture = consume capture
    self.playback = consume playback
  }

  /// Returns the number of frames captured and not yet read or, without an input, the room for
  /// frames to play. A negative value is ALSA's error code.
  @_noLocks
  mutating func available() -> Int {
    capture?.available() ?? playback?.available() ?? 0
  }

  /// Returns the same as `available`, but reads it from the kernel rather than from the mapped
  /// page.
  @_noLocks
  mutating func availableNow() -> Int {
    capture?.availableNow() ?? playback?.availableNow() ?? 0
  }

  /// Releases captured frames. Returns false if the input failed.
  @_noLocks
  mutating func release(_ frames: Int) -> Bool {
    guard capture?.returnFrames(frames) == true else { return false }
    heldFrames &-= frames
    return true
  }

  /// Hands frames over to be played. Returns false if the output failed.
  @_noLocks
  mutating func commit(_ frames: Int) -> Bool {
    guard playback?.returnFrames(frames) == true else { return false }
    heldFrames &+= frames
    return true
  }

  /// Plays `frames` frames of silence. Returns the number of frames that fit.
  @_noLocks
  mutating func playSilence(_ frames: Int) -> Int {
    let played = playback?.playSilence(frames) ?? 0
    heldFrames &+= played
    return played
  }

  /// Prepares both directions for a start, with empty buffers.
  func prepare() throws(DeviceFailure) {
    try capture?.prepare()
    try playback?.prepare()
  }

  /// Starts both directions together, the output with `ahead` frames of silence.
  mutating func start(ahead: Int) throws(DeviceFailure) {
    heldFrames = ahead
    try playback?.queueSilence(ahead)
    try capture?.start()
    if !isLinked { try playback?.start() }
  }

  /// Stops both directions at once.
  func drop() {
    capture?.drop()
    playback?.drop()
  }

  /// Resumes both directions after the machine was suspended.
  func resume() {
    capture?.resume()
    playback?.resume()
  }

  /// Closes both directions.
  mutating func close() {
    capture = nil
    playback = nil
  }

  /// Returns the number of frames that were captured and not yet read when the input stopped, and
  /// the time at which it stopped; nil if the driver does not report it. Linked directions stop
  /// together if the output runs dry, and the input may not have counted the frames since its last
  /// interrupt. The output has counted them, and both move at the same time.
  mutating func stoppedInput() -> (unread: Int, nanoseconds: UInt64)? {
    guard let stopped = capture?.stoppedState() else { return nil }
    guard isLinked, let output = playback?.stoppedState() else {
      return (stopped.available, stopped.nanoseconds)
    }
    let queued = (playback?.configuration.bufferFrames ?? 0) &- output.available
    return (max(stopped.available, heldFrames &- queued), stopped.nanoseconds)
  }
}

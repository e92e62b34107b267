// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// An output after a bridge. It may stop, stall or go away, and come back.
///
/// While it does not play, its clock is extrapolated, and the frames for it are converted and
/// dropped. When it is back it plays silence for 100 ms, or longer if its readings are late and
/// few. Its new clock is then known, and it plays again at the same delay as before.
struct AsynchronousOutput: ~Copyable {
  private enum State: BitwiseCopyable {
    /// The output plays the frames it receives.
    case playing
    /// The output plays silence until its clock is known.
    case locking
    /// The output plays silence until its clock is known, and the bridge already uses that clock
    /// because it knows no other.
    case firstLocking
    /// The output is gone, or has stopped.
    case away
  }

  /// The seconds of readings after which a clock is known well enough.
  private static var lockingSeconds: Double { @_noLocks get { 0.1 } }
  /// The seconds after which the output no longer waits for more readings.
  private static var maximumLockingSeconds: Double { @_noLocks get { 5 } }
  /// The number of frames of silence at a start, and while the clock is not known: enough that an
  /// output whose clock is read late, and in batches, does not run dry before it is read.
  private let silenceFrames: Int
  private var lockingFrames: Int
  /// The smallest number of queued frames. If the estimate of the output's clock is later than
  /// that, the output runs dry.
  private let minimumQueuedFrames: Double
  /// The number of frames that the output can accept now.
  private(set) var room = 0
  /// Whether the output must be started again.
  var needsRestart = false
  private let periodFrames: Int
  private var output: DeviceStream
  private let bufferFrames: Int
  private var state = State.playing
  private var clock: FilteredClock
  private var stallDetector: StallDetector
  /// The number of frames handed over since the start, silence included.
  private var written = 0
  private var gain = SmoothedGain(.unity)
  private let fadeFrames: Int
  /// A buffer of at most a period for frames on their way to the output.
  private var piece: SampleBuffer
  private let discardBuffer: DeviceBuffer
  private var lent: DeviceFrames?

  /// Wraps `output`, which starts with `frames` frames of silence, and is filled again when
  /// `minimumQueuedFrames` frames are left.
  init(_ output: consuming DeviceStream, silence frames: Int, minimumQueuedFrames: Double) {
    self.minimumQueuedFrames = minimumQueuedFrames
    let stream = output.configuration
    silenceFrames = frames
    lockingFrames = min(stream.bufferFrames - stream.periodFrames, frames + stream.sampleRate / 20)
    periodFrames = stream.periodFrames
    bufferFrames = stream.bufferFrames
    clock = FilteredClock(framesPerSecond: Double(stream.sampleRate))
    stallDetector = StallDetector(periodFrames: stream.periodFrames, sampleRate: stream.sampleRate)
    fadeFrames = stream.sampleRate / 100
    piece = SampleBuffer(frameCount: stream.periodFrames, channelCount: stream.channelCount)
    discardBuffer = DeviceBuffer(
      format: stream.format, channelCount: stream.channelCount, frameCount: stream.periodFrames)
    self.output = output
  }

  /// Whether the frames handed over are played.
  var isPlaying: Bool {
    @_noLocks get { state == .playing }
  }

  /// Whether the output plays silence because its clock is not known.
  var isLocking: Bool {
    @_noLocks get { state == .locking || state == .firstLocking }
  }

  /// Whether the output is detached until it is found again.
  var isAway: Bool {
    @_noLocks get { state == .away }
  }

  /// Starts the output again. Throws if it does not start.
  mutating func start(
    _ bridge: inout ClockDomainBridge, at now: UInt64
  ) throws(DeviceFailure) {
    // An output that underran before its clock was known consumes larger steps than its first fill,
    // so it starts with more silence.
    let isLong = needsRestart || bridge.hasReadings && bridge.isAligned
    let frames = isLong ? lockingFrames : silenceFrames
    try output.start(silence: frames, at: now)
    begin(&bridge, silence: frames, at: now)
  }

  @_noLocks
  private mutating func begin(
    _ bridge: inout ClockDomainBridge, silence frames: Int, at now: UInt64
  ) {
    let isFirst = !needsRestart && state == .playing
    needsRestart = false
    written = frames
    stallDetector.begin(at: now)
    let isKnown = bridge.hasReadings && bridge.isAligned
    if !isKnown { bridge.restartOutput(queued: frames) }
    guard isKnown || !isFirst else { return }
    state = isKnown ? .locking : .firstLocking
    clock.restart()
    gain.set(.silence)
  }

  /// Enables the search for a lost output. Returns whether the output can be detached from now on.
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool {
    output.enableReconnection(reportingTo: news)
  }

  /// Makes the search for a lost output end.
  mutating func endReconnection() { output.endReconnection() }

  /// Stops the output at once.
  mutating func stop() { output.stop() }

  /// Detaches the output, which is lost.
  @_noLocks
  mutating func detach() {
    output.detach(silence: lockingFrames)
    state = .away
    needsRestart = false
  }

  /// Reattaches the output if it was away and is back. Returns whether it did.
  @_noLocks
  mutating func reattach(
    _ bridge: inout ClockDomainBridge, at now: UInt64
  ) -> Bool {
    guard state == .away, let silence = output.reattach(at: now) else { return false }
    begin(&bridge, silence: silence, at: now)
    return true
  }

  /// Reads the position of the output, unless it is away. Returns a failure of the output; nil if
  /// there is none.
  @_noLocks
  mutating func poll(
    _ bridge: inout ClockDomainBridge, at now: UInt64
  ) -> DeviceReadiness? {
    guard state != .away else { return nil }
    switch output.readState(at: now) {
    case .running(let reading, let available):
      room = available
      switch stallDetector.note(reading.frames, at: now) {
      case .advancing: break
      case .stalled:
        needsRestart = true
        return .xrun(.playbackXrun)
      case .neverStarted: return .lost
      }
      if needsRestart { return .xrun(.playbackXrun) }
      // Some devices take a while to start.
      guard reading.frames > 0 else { return nil }
      if state != .locking { bridge.noteOutput(reading) }
      if state != .playing {
        clock.take(reading)
        lock(&bridge, at: now)
      }
      return nil
    case .xrun:
      // The position moves in larger steps than the silence that was queued.
      if !needsRestart, isLocking {
        lockingFrames = min(bufferFrames &- periodFrames, 2 &* lockingFrames)
      }
      needsRestart = true
      return .xrun(.playbackXrun)
    case .suspended:
      needsRestart = true
      return .suspended
    case .lost: return .lost
    }
  }

  /// Plays silence until the clock is known, and then as much silence as is needed to play the next
  /// frame at the time at which it is due.
  @_noLocks
  private mutating func lock(
    _ bridge: inout ClockDomainBridge, at now: UInt64
  ) {
    let age = clock.age(at: now)
    let isKnown =
      clock.lateFrames(at: now) < minimumQueuedFrames || age > Self.maximumLockingSeconds
    guard isKnown, age > Self.lockingSeconds, bridge.hasReadings, bridge.isAligned else {
      return playSilence(lockingFrames - (bufferFrames - room), at: now)
    }
    let next = bridge.outputFrame(of: bridge.position, on: clock.estimate, at: now)
    // So much silence is already queued that the next frames would be late.
    guard next >= written else { return }
    playSilence(next - written, at: now)
    guard written == next else { return }
    bridge.changeOutput(to: clock, at: next)
    state = .playing
    gain.ramp(to: .unity, frames: fadeFrames)
  }

  @_noLocks
  private mutating func playSilence(
    _ frames: Int, at now: UInt64
  ) {
    var rest = min(frames, room)
    while rest > 0 {
      let count = min(rest, periodFrames)
      guard let space = output.frames(count, at: now) else { return }
      space.clear(from: 0, frames: count)
      guard output.commit(count) else { return }
      written += count
      room -= count
      rest -= count
    }
  }

  /// Returns room for the next frames, at most a period: in the output, or in a discarded buffer
  /// while the output does not play.
  @_noLocks
  mutating func room(for frames: Int, at now: UInt64) -> DeviceFrames {
    lent = state == .playing && !needsRestart ? output.frames(frames, at: now) : nil
    // The output has failed, or the estimate of its clock was wrong.
    if lent == nil, state == .playing { needsRestart = true }
    return lent ?? discardBuffer.frames(frames)
  }

  /// Hands over the filled frames.
  @_noLocks
  mutating func commit(_ frames: Int, _ bridge: inout ClockDomainBridge) {
    if let lent {
      if !gain.isTransparent {
        lent.decode(from: 0, frames: frames, into: &piece, at: 0)
        gain.process(&piece, frames: frames)
        _ = lent.encode(piece, from: 0, frames: frames, at: 0)
      }
      if !output.commit(frames) { needsRestart = true }
      written += frames
    }
    lent = nil
    bridge.advanceOutput(frames)
  }

  /// Converts the frames that were played for input frame `position` and after, and hands them
  /// over.
  @_noLocks
  mutating func play(
    _ source: borrowing SampleBuffer, at position: Int, frames: Int,
    _ bridge: inout ClockDomainBridge, at now: UInt64
  ) {
    var done = 0
    while true {
      let missing = position + done - bridge.consumedFrames
      var moved = (consumed: 0, produced: 0)
      if missing > 0 {
        moved = bridge.convertSilence(missing, into: &piece, at: 0, room: periodFrames)
        if state == .playing {
          gain = SmoothedGain(fadingInTo: .unity, frames: fadeFrames)
        }
      } else if done < frames {
        // Frames that are too late are not played.
        done = min(frames, done - missing)
        moved = bridge.convert(
          source, from: done, frames: frames - done, into: &piece, at: 0, room: periodFrames)
        done += moved.consumed
      }
      guard moved.consumed > 0 || moved.produced > 0 else { return }
      guard moved.produced > 0 else { continue }
      let space = room(for: moved.produced, at: now)
      if lent != nil { _ = space.encode(piece, from: 0, frames: moved.produced, at: 0) }
      commit(moved.produced, &bridge)
    }
  }
}

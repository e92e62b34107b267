// Audio thread.

import AudioDevices
import RealtimeAudio

/// A duplex device without hardware: what is played comes back at the microphone over a wire.
///
/// What a callback plays in a cycle for frame i is played at output frame i + P + H, and captured
/// `delay` frames later: a round trip takes exactly P + H + delay frames. Positions are kept
/// through every xrun, so frame m of the timeline is always frame m of the device.
///
/// - On the real clock the capture side runs at the rate times 1 + drift, the output at the rate.
///   On the free clock `wait` never sleeps, time is that of the frames captured, and a cycle takes
///   no time.
/// - A scripted overrun loses the frames from the last cycle before its time on.
/// - Unplugged, `wait` says `lost` (and time goes on, by a period) until `pollForReconnection` finds it
///   plugged in again: on the free clock at that very frame.
/// - Without input nothing is heard: `delay`, `gain`, `noise` and `xrun-at` mean nothing then.
public struct SimulatedDevice: DuplexDevice, ~Copyable, Sendable {
  /// What was granted. Its rate is the specification's.
  public let configuration: DuplexConfiguration
  /// When the newest captured frame was complete, to the nanosecond: no wake-up's jitter is in it.
  public private(set) var periodTime: UInt64 = 0

  private let shape: SimulatedShape
  private var clock: DeviceClock
  private var tape: PlayedHistoryRing
  private var microphone: Microphone
  private var room: DeviceBuffer
  private var scheduledFaults: ScheduledFaults
  /// Frames captured and given back, and those that were lost: where the next cycle begins.
  private var taken = 0
  /// Output frames played when the last period was found.
  private var played = 0
  /// Without input: whether it runs, and at which played frame the next period is due.
  private var isStarted = false
  private var due = 0
  private var isUnplugged = false
  private var isOverrunScripted = false
  /// An xrun that came to light in the middle of a cycle.
  private var isRunDry = false
  private var lostFrames = 0

  init(
    configuration: DuplexConfiguration, shape: SimulatedShape, clock: DeviceClock,
    tape: consuming PlayedHistoryRing, microphone: consuming Microphone,
    room: consuming DeviceBuffer,
    scheduledFaults: consuming ScheduledFaults
  ) {
    self.configuration = configuration
    self.shape = shape
    self.clock = clock
    self.tape = tape
    self.microphone = microphone
    self.room = room
    self.scheduledFaults = scheduledFaults
  }

  /// The host's time, or virtual time: that of the frames captured or played.
  public var now: UInt64 {
    @_noLocks get { clock.now }
  }

  /// Now: a cycle begins when `wait` returns.
  public var readyTime: UInt64 {
    @_noLocks get { clock.now }
  }

  /// The period and the headroom: no converter is between.
  public var claimedLatencyFrames: Int {
    @_noLocks get { shape.periodFrames &+ shape.headroomFrames }
  }

  /// Starts both directions at frame 0.
  public mutating func start() throws(DeviceFailure) {
    clock.start(at: 0)
    restart(at: 0)
  }

  /// Sleeps until the next period is there, or lets virtual time jump to it.
  @_noLocks
  public mutating func wait() -> DeviceReadiness {
    if isUnplugged {
      _ = clock.wait(until: clock.frame &+ shape.periodFrames)
      return .lost
    }
    if isRunDry {
      isRunDry = false
      return .xrun(.playbackXrun)
    }
    return shape.hasCapture ? waitForInput() : waitForRoom()
  }

  @_noLocks
  private mutating func waitForInput() -> DeviceReadiness {
    let end = taken &+ shape.periodFrames
    guard clock.wait(until: end) else { return .waiting }
    let reached = max(end, clock.frame)
    if reached > scheduledFaults.unplugFrame {
      isUnplugged = true
      return .lost
    }
    if end > scheduledFaults.nextXrun {
      isOverrunScripted = true
      return .xrun(.captureXrun)
    }
    played = microphone.played(at: reached)
    if shape.hasPlayback, tape.end <= played { return .xrun(.playbackXrun) }
    if reached &- taken > shape.captureBufferFrames { return .xrun(.captureXrun) }
    periodTime = clock.nanoseconds(at: reached)
    return .ready
  }

  @_noLocks
  private mutating func waitForRoom() -> DeviceReadiness {
    if !isStarted {
      let queued = tape.end &- played
      if queued < shape.periodFrames &+ shape.headroomFrames {
        periodTime = clock.now
        return .ready
      }
      isStarted = true
      clock.start(at: played)
      due = tape.end &- shape.headroomFrames
    }
    guard clock.wait(until: due) else { return .waiting }
    played = max(due, clock.frame)
    if played > scheduledFaults.unplugFrame {
      isUnplugged = true
      return .lost
    }
    if tape.end <= played { return .xrun(.playbackXrun) }
    periodTime = clock.nanoseconds(at: due)
    due &+= shape.periodFrames
    return .ready
  }

  /// Frames lost since the last cycle.
  @_noLocks
  public mutating func takeLostFrames() -> Int {
    let frames = lostFrames
    lostFrames = 0
    return frames
  }

  /// What the microphone heard. Never nil.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    microphone.hear(tape, from: taken, frames: min(frames, shape.periodFrames))
  }

  /// Moves on to the next frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    taken &+= frames
  }

  /// Room to play, nil where the output is full.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    let queued = tape.end &- played
    return queued &+ frames <= shape.playbackBufferFrames ? room.frames(frames) : nil
  }

  /// Queues what was filled. On the real clock it may come too late: the next `wait` says so.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    if shape.isRealTime, shape.hasCapture || isStarted {
      let frame = clock.frame
      let playedNow = shape.hasCapture ? microphone.played(at: frame) : frame
      if tape.end <= playedNow {
        isRunDry = true
        return
      }
    }
    tape.append(room, frames: frames)
  }

  /// Goes on from where the clock stands now.
  public mutating func recover() throws(DeviceFailure) {
    resume()
  }

  /// Nothing is to be closed.
  public mutating func close() {}

  /// A tenth of a second, or less where it is plugged in before.
  public mutating func pollForReconnection() -> DeviceReturn {
    let tenth = clock.frame + configuration.sampleRate / 10
    _ = clock.wait(until: min(tenth, max(clock.frame, scheduledFaults.replugFrame)))
    // The sound before it goes on, whoever hears it.
    _ = microphone.pass(to: clock.frame)
    guard !isUnplugged || scheduledFaults.isBack(at: clock.frame) else { return .absent }
    resume()
    return .returned(cards: [])
  }

  private mutating func resume() {
    var frame = shape.hasCapture ? max(taken, clock.frame) : max(played, clock.frame)
    if isOverrunScripted { frame = taken + scheduledFaults.xrunFrames }
    if shape.hasCapture { lostFrames += frame - taken }
    restart(at: frame)
  }

  /// Both directions begin at captured frame `frame` (or, without input, played frame).
  private mutating func restart(at frame: Int) {
    scheduledFaults.resume(at: frame)
    isUnplugged = false
    isOverrunScripted = false
    isRunDry = false
    taken = frame
    played = frame
    isStarted = false
    let ahead = shape.periodFrames + shape.headroomFrames
    if shape.hasCapture {
      if shape.hasPlayback { tape.restart(at: microphone.nearestPlayed(at: frame), silence: ahead) }
    } else {
      tape.restart(at: frame, silence: 0)
    }
  }

  /// Draining waits until all that is queued was played.
  public mutating func stop(draining: Bool) {
    guard draining, shape.hasPlayback, !isUnplugged else { return }
    if !shape.hasCapture, !isStarted { clock.start(at: played) }
    while !clock.wait(until: microphone.captured(at: tape.end)) {}
  }
}

/// A device's own clock, which counts frames: on the host's time, or on time of its own.
struct DeviceClock: BitwiseCopyable, Sendable {
  private let isFree: Bool
  private let sampleRate: Int
  /// Its frames for one frame of a clock that is right.
  private let pace: Double
  /// The host's time at which it stood at `startFrame`.
  private var startNanoseconds: UInt64 = 0
  private var startFrame = 0
  /// Where a free clock stands.
  private var freeFrame = 0
  private var freeNanoseconds: UInt64 = 0

  init(isFree: Bool, sampleRate: Int, pace: Double) {
    self.isFree = isFree
    self.sampleRate = sampleRate
    self.pace = pace
  }

  /// Lets it run, from `frame` on.
  @_noLocks
  mutating func start(at frame: Int) {
    startFrame = frame
    startNanoseconds = isFree ? 0 : HostClock.nanoseconds
    advance(to: frame)
  }

  /// Now, in nanoseconds: the host's, or those since a free clock's frame 0.
  var now: UInt64 {
    @_noLocks get { isFree ? freeNanoseconds : HostClock.nanoseconds }
  }

  /// Frames complete now.
  var frame: Int {
    @_noLocks get {
      if isFree { return freeFrame }
      let elapsed = HostClock.nanoseconds &- startNanoseconds
      if pace != 1 {
        return startFrame &+ Int(clamping: Double(elapsed) * 1e-9 * Double(sampleRate) * pace)
      }
      let rate = UInt64(sampleRate)
      let whole = elapsed / 1_000_000_000
      let rest = elapsed % 1_000_000_000
      return startFrame &+ Int(whole &* rate &+ rest &* rate / 1_000_000_000)
    }
  }

  /// When `frame` frames are complete.
  @_noLocks
  func nanoseconds(at frame: Int) -> UInt64 {
    if isFree { return frame == freeFrame ? freeNanoseconds : nanoseconds(of: frame) }
    return startNanoseconds &+ nanoseconds(of: max(0, frame &- startFrame))
  }

  /// Until `frame` frames are complete: free time jumps there, the host's is slept through, a tenth
  /// of a second at most. False where they are not complete yet.
  @_noLocks
  mutating func wait(until frame: Int) -> Bool {
    if isFree {
      advance(to: max(frame, freeFrame))
      return true
    }
    // A nanosecond later the division of `frame` has surely arrived.
    let due = nanoseconds(at: frame) &+ 1
    let now = HostClock.nanoseconds
    if now >= due { return true }
    HostClock.sleep(until: min(due, now &+ 100_000_000))
    return HostClock.nanoseconds >= due
  }

  @_noLocks
  private mutating func advance(to frame: Int) {
    freeFrame = frame
    freeNanoseconds = nanoseconds(of: frame)
  }

  @_noLocks
  private func nanoseconds(of frames: Int) -> UInt64 {
    if pace != 1 { return UInt64(clamping: Double(frames) * 1e9 / (Double(sampleRate) * pace)) }
    return FrameTime.nanoseconds(of: frames, at: sampleRate)
  }
}

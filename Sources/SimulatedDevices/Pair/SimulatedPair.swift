// Audio thread.
import AudioBasics
import AudioClocks
import AudioDevices
import RealtimeAudio

/// Two devices without hardware, each with a clock of its own: what one plays comes back at the
/// other's microphone over a wire.
///
/// The output's clock is right; the input's drifts as the specification says. Both can be read as
/// those of real devices can: in batches, and late. Frame 0 of both is the moment of the first
/// start, and every frame keeps its number through all stops.
public struct SimulatedPair: DevicePair, ~Copyable, Sendable {
  /// What the input granted.
  public let captureStream: StreamConfiguration
  /// What the output granted.
  public let playbackStream: StreamConfiguration

  private let isFree: Bool
  private let captureBufferFrames: Int
  private let playbackBufferFrames: Int
  private let capturePeriod: Int
  private let input: SimulatedClock
  private let output: SimulatedClock
  private var tape: OutputTape
  private var microphone: Microphone
  private var room: DeviceBuffer
  private var mishaps: Mishaps
  private var dry: Mishaps
  /// Nanoseconds of virtual time, or the host's at the first start.
  private var time: UInt64 = 0
  private var hasStarted = false
  /// Where each last started, and the frames given back and handed over since.
  private var captureStart = 0
  private var playbackStart = 0
  private var taken = 0
  private var isCaptureBroken = false
  private var isPlaybackBroken = false
  private var isUnplugged = false

  init(
    _ specification: SimulatedDeviceSpecification, capture: StreamConfiguration,
    playback: StreamConfiguration, tape: consuming OutputTape, microphone: consuming Microphone
  ) {
    captureStream = capture
    playbackStream = playback
    isFree = specification.clock == .free
    captureBufferFrames = capture.bufferFrames
    playbackBufferFrames = playback.bufferFrames
    capturePeriod = capture.periodFrames
    input = SimulatedClock(specification, drifts: true)
    output = SimulatedClock(specification, drifts: false)
    self.tape = tape
    self.microphone = microphone
    room = DeviceBuffer(
      format: playback.format, channelCount: playback.channelCount,
      frameCount: playback.periodFrames)
    var ownRate = specification
    ownRate.sampleRate = capture.sampleRate
    mishaps = Mishaps(ownRate)
    var drying = specification
    drying.xrunSeconds = specification.drySeconds
    dry = Mishaps(drying)
  }

  /// The host's time, or virtual time.
  public var now: UInt64 {
    @_noLocks get { isFree ? time : HostClock.nanoseconds }
  }

  private var seconds: Double {
    @_noLocks get { Double(isFree ? time : HostClock.nanoseconds &- time) * 1e-9 }
  }

  /// Sleeps, or lets virtual time jump there.
  @_noLocks
  public mutating func sleep(until nanoseconds: UInt64) {
    if isFree {
      time = max(time, nanoseconds)
    } else {
      HostClock.sleep(until: min(nanoseconds, now &+ 100_000_000))
    }
  }

  /// Starts one of them anew.
  public mutating func start(_ side: PairSide, silence frames: Int) throws(DeviceFailure) {
    if !hasStarted, !isFree { time = HostClock.nanoseconds }
    hasStarted = true
    let seconds = seconds
    switch side {
    case .capture:
      captureStart = input.seen(at: seconds).frames
      // A scripted overrun lasts as long as it is told to.
      if isCaptureBroken { captureStart = max(captureStart, taken + mishaps.xrunFrames) }
      taken = captureStart
      mishaps.resume(at: captureStart)
      isCaptureBroken = false
    case .playback:
      playbackStart = output.seen(at: seconds).frames
      tape.restart(at: playbackStart, silence: frames)
      dry.resume(at: playbackStart)
      isPlaybackBroken = false
    }
  }

  /// Asks one of them where it is.
  @_noLocks
  public mutating func look(_ side: PairSide) -> SideState {
    let seconds = seconds
    if isUnplugged { return .lost }
    if case .capture = side { return lookAtInput(seconds) }
    let (frames, since) = output.seen(at: seconds)
    if frames > dry.nextXrun { isPlaybackBroken = true }
    if isPlaybackBroken || Int(output.course.frames(at: seconds)) >= tape.end { return .xrun }
    return .running(
      reading(max(0, frames &- playbackStart), since),
      available: playbackBufferFrames &- (tape.end &- max(frames, playbackStart)))
  }

  @_noLocks
  private mutating func lookAtInput(_ seconds: Double) -> SideState {
    let (frames, since) = input.seen(at: seconds)
    if frames > mishaps.unplugFrame {
      isUnplugged = true
      return .lost
    }
    if frames > mishaps.nextXrun { isCaptureBroken = true }
    if isCaptureBroken || frames &- taken > captureBufferFrames { return .xrun }
    return .running(
      reading(max(0, frames &- captureStart), since), available: max(0, frames &- taken))
  }

  @_noLocks
  private func reading(_ frames: Int, _ seconds: Double) -> ClockReading {
    let passed = UInt64(max(0, seconds) * 1e9)
    return ClockReading(frames: frames, nanoseconds: isFree ? passed : time &+ passed)
  }

  /// What the microphone heard.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    let count = min(frames, capturePeriod)
    let first = output.course.frames(at: input.course.seconds(at: Double(taken)))
    let last = output.course.frames(at: input.course.seconds(at: Double(taken &+ count)))
    return microphone.hear(
      tape, from: taken, frames: count, played: first, step: (last - first) / Double(max(1, count)))
  }

  /// Moves on to the next frames.
  @_noLocks
  public mutating func release(_ frames: Int) -> Bool {
    taken &+= frames
    return true
  }

  /// Room to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    let queued = tape.end &- Int(output.course.frames(at: seconds))
    return queued &+ frames <= playbackBufferFrames ? room.frames(frames) : nil
  }

  /// Queues what was filled.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool {
    tape.append(room, frames: frames)
    return true
  }

  /// Nothing is to be closed.
  public mutating func letGo() {}

  /// A tenth of a second.
  public mutating func awaitReturn() -> DeviceReturn {
    sleep(until: now &+ 100_000_000)
    let frames = Int(input.course.frames(at: seconds))
    guard !isUnplugged || mishaps.isBack(at: frames) else { return .absent }
    isUnplugged = false
    mishaps.resume(at: frames)
    return .returned(cards: [])
  }

  /// Nothing is to be stopped.
  public mutating func stop() {}
}

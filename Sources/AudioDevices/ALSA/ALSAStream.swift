// Audio thread.

import AudioBasics
import AudioClocks
import CALSA
import Glibc
import RealtimeAudio

/// One direction of an ALSA device with a clock of its own, which may go away and come back.
struct ALSAStream: ~Copyable {
  /// What it granted, and grants again when it is back.
  let stream: StreamConfiguration
  private let isCapture: Bool
  private let request: DuplexRequest
  private let places: DevicePlaces
  private var pcm: PCM?
  private var search: PCMSearch?
  /// Frames given back by the input, or handed to the output, since it started.
  private var moved = 0

  /// Drives `pcm`, which `request` asked for: it names no other device.
  init(_ pcm: consuming PCM, request: DuplexRequest) {
    let places = DevicePlaces(request)
    stream = pcm.configuration
    isCapture = pcm.isCapture
    self.request = request
    self.places = places
    self.pcm = consume pcm
  }

  /// Starts it anew; an output with so many frames of silence.
  mutating func start(silence frames: Int = 0) throws(DeviceFailure) {
    try pcm?.startAnew(silence: frames)
    moved = frames
  }

  /// Asks it where it is, and when that was, by its own stamp where it makes sense.
  @_noLocks
  mutating func look() -> SideState {
    let available = pcm?.availableNow() ?? -1
    guard available >= 0 else { return Self.state(ofCode: available) }
    let now = HostClock.nanoseconds
    let (there, time) = pcm?.stamped(available, at: now) ?? (available, now)
    let frames = isCapture ? moved &+ there : moved &- stream.bufferFrames &+ there
    return .running(ClockReading(frames: frames, nanoseconds: time), available: available)
  }

  @_noLocks
  private static func state(ofCode code: Int) -> SideState {
    switch Int32(truncatingIfNeeded: 0 &- code) {
    case EPIPE: .xrun
    case ESTRPIPE: .suspended
    default: .lost
    }
  }

  /// The next frames of its memory, to read or to fill.
  @_noLocks
  mutating func frames(_ frames: Int) -> DeviceFrames? {
    pcm?.borrowFrames(frames) ?? nil
  }

  /// Gives them back, or hands them over.
  @_noLocks
  mutating func move(_ frames: Int) -> Bool {
    moved &+= frames
    return pcm?.returnFrames(frames) ?? false
  }

  /// Whether it can be parted with from now on.
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool {
    search = try? PCMSearch(
      request, isCapture ? .capture : .playback, granted: stream, places: places, news: news)
    return switch search {
    case .some: true
    case .none: false
    }
  }

  /// Gives it up: it is closed and looked for on the search's thread.
  @_noLocks
  mutating func part(silence frames: Int = 0) {
    guard let place = search?.place.pointer else { return }
    // Exchanged, because an assignment would end what was there before.
    swap(&pcm, &place.pointee.pcm)
    place.pointee.silence = frames
    // Hands the PCM over; pairs with the load in `PCMSearching.run`.
    place.pointee.state.store(ReconnectSlot.broken, ordering: .releasing)
  }

  /// Takes it up again where it is found and runs: the frames of silence it began with.
  @_noLocks
  mutating func reattach() -> Int? {
    // Acquires the PCM that the search handed over; pairs with the store in `PCMSearching.mend`.
    guard let place = search?.place.pointer,
      place.pointee.state.load(ordering: .acquiring) == ReconnectSlot.mended
    else { return nil }
    swap(&pcm, &place.pointee.pcm)
    place.pointee.state.store(ReconnectSlot.empty, ordering: .relaxed)
    moved = place.pointee.silence
    return moved
  }

  /// Stops it at once, and whoever looks for it.
  mutating func stop() {
    pcm?.drop()
    search = nil
  }
}

/// Two ALSA PCMs, each with a clock of its own.
public struct ALSAPair: DevicePair, ~Copyable {
  /// What the input granted.
  public let captureStream: StreamConfiguration
  /// What the output granted.
  public let playbackStream: StreamConfiguration

  private var input: ALSAStream
  private var output: ALSAStream
  private let hasClocks: Bool

  init(input: consuming ALSAStream, output: consuming ALSAStream, hasClocks: Bool) {
    captureStream = input.stream
    playbackStream = output.stream
    self.input = input
    self.output = output
    self.hasClocks = hasClocks
  }

  /// Whether both keep time; ALSA's `null` does not.
  public var keepsTime: Bool {
    @_noLocks get { hasClocks }
  }

  /// The host's monotonic clock.
  public var now: UInt64 {
    @_noLocks get { HostClock.nanoseconds }
  }

  /// Sleeps until then, for a tenth of a second at most.
  @_noLocks
  public mutating func sleep(until nanoseconds: UInt64) {
    HostClock.sleep(until: min(nanoseconds, now &+ 100_000_000))
  }

  /// Starts the input anew.
  public mutating func startInput(at now: UInt64) throws(DeviceFailure) {
    try input.start()
  }

  /// Starts the output anew.
  public mutating func startOutput(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try output.start(silence: frames)
  }

  /// Asks the input where it is.
  @_noLocks
  public mutating func lookAtInput(at now: UInt64) -> SideState { input.look() }

  /// Asks the output where it is.
  @_noLocks
  public mutating func lookAtOutput(at now: UInt64) -> SideState { output.look() }

  /// The next captured frames.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? { input.frames(frames) }

  /// Gives captured frames back.
  @_noLocks
  public mutating func release(_ frames: Int) -> Bool { input.move(frames) }

  /// Room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    output.frames(frames)
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool { output.move(frames) }

  /// Whether both can be parted with.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool {
    input.enableReconnection(telling: news) && output.enableReconnection(telling: news)
  }

  /// Gives the input up.
  @_noLocks
  public mutating func partWithInput() { input.part() }

  /// Gives the output up.
  @_noLocks
  public mutating func partWithOutput(silence frames: Int) { output.part(silence: frames) }

  /// Takes the input back where it was found.
  @_noLocks
  public mutating func takeInputBack(at now: UInt64) -> Bool { input.reattach() != nil }

  /// Takes the output back where it was found.
  @_noLocks
  public mutating func takeOutputBack(at now: UInt64) -> Int? { output.reattach() }

  /// Stops both at once.
  public mutating func stop() {
    input.stop()
    output.stop()
  }
}

/// An ALSA PCM that plays by its own clock, beside a duplex device.
public struct ALSAOutput: ClockedOutput, ~Copyable {
  /// What it granted.
  public let playbackStream: StreamConfiguration
  private var output: ALSAStream

  /// Opens and configures the output that `request` names, at its own rate where the request's is
  /// beyond it.
  public init(opening request: DuplexRequest) throws(DeviceFailure) {
    var outward = request
    outward.captureDevice = nil
    try outward.validate()
    let pcm = try PCM.opening(outward, .playback)
    guard pcm.keepsTime else {
      throw DeviceFailure(
        .refused, "The output \(pcm.name) keeps no time, so nothing can be played along on it.",
        hint: "Name a device that plays in real time with --also-play.")
    }
    playbackStream = pcm.configuration
    output = ALSAStream(pcm, request: outward)
  }

  /// Starts it anew.
  public mutating func startOutput(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try output.start(silence: frames)
  }

  /// Asks it where it is.
  @_noLocks
  public mutating func lookAtOutput(at now: UInt64) -> SideState { output.look() }

  /// Room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    output.frames(frames)
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool { output.move(frames) }

  /// Whether it can be parted with.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool {
    output.enableReconnection(telling: news)
  }

  /// Gives it up.
  @_noLocks
  public mutating func partWithOutput(silence frames: Int) { output.part(silence: frames) }

  /// Takes it back where it was found.
  @_noLocks
  public mutating func takeOutputBack(at now: UInt64) -> Int? { output.reattach() }

  /// Stops it at once.
  public mutating func stop() { output.stop() }
}

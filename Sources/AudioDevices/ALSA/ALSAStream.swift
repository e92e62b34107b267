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
  mutating func outliveLoss(telling news: Guarded<DeviceReturn?>) -> Bool {
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
    place.pointee.state.store(MendingPlace.broken, ordering: .releasing)
  }

  /// Takes it up again where it is found and runs: the frames of silence it began with.
  @_noLocks
  mutating func takeBack() -> Int? {
    // Acquires the PCM that the search handed over; pairs with the store in `PCMSearching.mend`.
    guard let place = search?.place.pointer,
      place.pointee.state.load(ordering: .acquiring) == MendingPlace.mended
    else { return nil }
    swap(&pcm, &place.pointee.pcm)
    place.pointee.state.store(MendingPlace.empty, ordering: .relaxed)
    moved = place.pointee.silence
    return moved
  }

  /// Stops it at once, and whoever looks for it.
  mutating func stop() {
    pcm?.drop()
    search = nil
  }
}

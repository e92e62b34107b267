// Audio thread.

import AudioBasics
import AudioClocks
import CALSA
import Glibc
import RealtimeAudio
import Synchronization

/// One direction of an ALSA device with a clock of its own, which may go away and come back.
public struct ALSAStream: StreamDriver, ~Copyable {
  /// What the audio thread calls.
  public static let function: DriverFunction = callALSAStream
  /// What it granted, and grants again when it is back.
  public let configuration: StreamConfiguration
  private let isCapture: Bool
  private let request: DuplexRequest
  private let places: DeviceLocations
  private var pcm: PCM?
  private var search: PCMSearch?
  /// Frames given back by the input, or handed to the output, since it started.
  private var moved = 0
  private var restarts = RestartsWithoutProgress()

  /// Drives `pcm`, which `request` asked for: it names no other device.
  init(_ pcm: consuming PCM, request: DuplexRequest) {
    let places = DeviceLocations(request)
    configuration = pcm.configuration
    isCapture = pcm.isCapture
    self.request = request
    self.places = places
    self.pcm = consume pcm
  }

  /// Starts it anew; an output with `frames` frames of silence. Throws where it does not start or
  /// went away.
  public mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    do throws(DeviceFailure) {
      try pcm?.startAnew(silence: frames)
    } catch {
      // What a server that is gone refuses has nothing to do with what was asked for.
      throw restarts.isFirst || !configuration.isServer
        ? error : .serverGone(configuration.device)
    }
    restarts.note()
    moved = frames
  }

  /// Asks it where it is, and when that was, by its own stamp where it makes sense.
  @_noLocks
  public mutating func readState(at now: UInt64) -> StreamState {
    let available = pcm?.availableNow() ?? -1
    guard available >= 0 else { return state(ofCode: available) }
    let now = HostClock.nanoseconds
    let (there, time) = pcm?.stamped(available, at: now) ?? (available, now)
    let frames = isCapture ? moved &+ there : moved &- configuration.bufferFrames &+ there
    if frames > 0 { restarts.end() }
    return .running(ClockReading(frames: frames, nanoseconds: time), available: available)
  }

  @_noLocks
  private func state(ofCode code: Int) -> StreamState {
    switch Int32(truncatingIfNeeded: 0 &- code) {
    case EPIPE: configuration.isServer && restarts.areTooMany ? .lost : .xrun
    case ESTRPIPE: .suspended
    default: .lost
    }
  }

  /// The next frames of its memory, to read or to fill.
  @_noLocks
  public mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    pcm?.borrowFrames(frames) ?? nil
  }

  /// Gives them back, or hands them over.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool {
    moved &+= frames
    return pcm?.returnFrames(frames) ?? false
  }

  /// Whether it can be detached from now on.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool {
    search = try? PCMSearch(
      request, isCapture ? .capture : .playback, granted: configuration, places: places, news: news)
    return switch search {
    case .some: true
    case .none: false
    }
  }

  /// Gives it up: it is closed and looked for on the search's thread.
  @_noLocks
  public mutating func detach(silence frames: Int) {
    guard let slot = search?.slot.pointer else { return }
    // Exchanged, because an assignment would end what was there before.
    swap(&pcm, &slot.pointee.pcm)
    slot.pointee.silence = frames
    // Hands the PCM over; pairs with the load in `PCMSearching.run`.
    slot.pointee.state.store(ReconnectSlot.lost, ordering: .releasing)
  }

  /// Takes it up again where it is found and runs: the frames of silence it began with.
  @_noLocks
  public mutating func reattach(at now: UInt64) -> Int? {
    // Acquires the PCM that the search handed over; pairs with the store in `PCMSearching.reopen`.
    guard let slot = search?.slot.pointer,
      slot.pointee.state.load(ordering: .acquiring) == ReconnectSlot.reopened
    else { return nil }
    swap(&pcm, &slot.pointee.pcm)
    slot.pointee.state.store(ReconnectSlot.free, ordering: .relaxed)
    moved = slot.pointee.silence
    restarts.end()
    return moved
  }

  /// Stops it at once, and ends the search for it.
  public mutating func stop() {
    pcm?.drop()
    search = nil
  }
}

/// Starts after which no frame moved. The plugin of a sound server that is gone calls that an xrun,
/// again and again, and lets itself be started every time.
struct RestartsWithoutProgress: BitwiseCopyable {
  private var count = 0
  private(set) var isFirst = true

  @_noLocks
  init() {}

  /// It is started.
  @_noLocks
  mutating func note() {
    count += 1
    isFirst = false
  }

  /// A frame has moved.
  @_noLocks
  mutating func end() { count = 0 }

  /// Whether no more of them are tried.
  var areTooMany: Bool {
    @_noLocks get { count > 3 }
  }
}

/// The slot through which the audio thread hands a lost PCM to the thread that looks for it, and
/// gets it back when it is opened again.
///
/// `state` says which thread owns the slot; only the owner touches the rest.
struct ReconnectSlot: ~Copyable {
  /// Without an owner; owned by the search, which opens the PCM again; owned by the audio thread,
  /// which takes the PCM back.
  static var free: Int { @_noLocks get { 0 } }
  static var lost: Int { @_noLocks get { 1 } }
  static var reopened: Int { @_noLocks get { 2 } }

  let state = Atomic<Int>(0)
  let isOver = Atomic<Bool>(false)
  var pcm: PCM?
  /// Frames of silence that a reopened output starts with.
  var silence = 0
}

@_noLocks
private func callALSAStream(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: ALSAStream.self), storing: answer)
}

// Audio thread.

import AudioBasics
import AudioClocks
import CALSA
import Glibc
import RealtimeAudio
import Synchronization

/// One direction of an ALSA device with its own clock. The device may go away and come back.
public struct ALSAStream: StreamDriver, ~Copyable {
  /// The function that the audio thread calls.
  public static let function: DriverFunction = callALSAStream
  /// The configuration that the device granted, and grants again when it is back.
  public let configuration: StreamConfiguration
  private let isCapture: Bool
  private let places: DeviceLocations
  private var pcm: PCM?
  private var search: PCMSearch?
  /// The number of frames released by the input, or handed over to the output, since the start.
  private var moved = 0
  private var restarts = RestartsWithoutProgress()
  /// The time of the last position in nanoseconds; nil right after a start.
  private var readTime: UInt64?

  /// Creates a driver for `pcm`, which was opened for `request`. The request names no other device.
  init(_ pcm: consuming PCM, request: DuplexRequest) {
    places = DeviceLocations(request)
    configuration = pcm.configuration
    isCapture = pcm.isCapture
    self.pcm = consume pcm
  }

  /// Starts the stream again; an output starts with `frames` frames of silence. Throws if the
  /// stream does not start or went away.
  public mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    do throws(DeviceFailure) {
      try pcm?.startAnew(silence: frames)
    } catch {
      // A refusal by a server that has ended does not depend on the request.
      throw restarts.isFirst || !configuration.isServer
        ? error : .serverGone(configuration.device)
    }
    restarts.note()
    readTime = nil
    moved = frames
  }

  /// Returns the state of the stream, with its position and the time of that position: the driver's
  /// timestamp if it is plausible.
  @_noLocks
  public mutating func readState(at now: UInt64) -> StreamState {
    let available = pcm?.availableNow() ?? -1
    guard available >= 0 else { return state(ofCode: available) }
    let now = HostClock.nanoseconds
    if configuration.catchUpSeconds == 0, isOverdue(at: now) { return .xrun }
    let (there, time) = pcm?.stamped(available, at: now) ?? (available, now)
    let frames = isCapture ? moved &+ there : moved &- configuration.bufferFrames &+ there
    if frames > 0 { restarts.end() }
    return .running(ClockReading(frames: frames, nanoseconds: time), available: available)
  }

  /// Returns whether more time has passed since the last reading than the buffer holds: the input
  /// has dropped frames, and reports no xrun.
  @_noLocks
  private mutating func isOverdue(at now: UInt64) -> Bool {
    let last = readTime ?? now
    readTime = now
    return now &- last
      > FrameTime.nanoseconds(of: configuration.bufferFrames, at: configuration.sampleRate)
  }

  @_noLocks
  private func state(ofCode code: Int) -> StreamState {
    switch Int32(truncatingIfNeeded: 0 &- code) {
    case EPIPE: configuration.isServer && restarts.areTooMany ? .lost : .xrun
    case ESTRPIPE: .suspended
    default: .lost
    }
  }

  /// Returns the next frames of the device's memory, to read or to fill.
  @_noLocks
  public mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    pcm?.borrowFrames(frames) ?? nil
  }

  /// Releases captured frames, or hands over frames to play.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool {
    moved &+= frames
    return pcm?.returnFrames(frames) ?? false
  }

  /// Starts the search thread, so that the stream can be detached. Returns false if there is no
  /// thread.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool {
    search = try? PCMSearch(
      places, isCapture ? .capture : .playback, granted: configuration, news: news)
    return switch search {
    case .some: true
    case .none: false
    }
  }

  /// Detaches the stream: the search thread closes the PCM and polls for its return.
  @_noLocks
  public mutating func detach(silence frames: Int) {
    guard let slot = search?.slot.pointer else { return }
    // Exchanged, because an assignment would destroy the previous value here.
    swap(&pcm, &slot.pointee.pcm)
    slot.pointee.silence = frames
    // Hands the PCM over; pairs with the load in `PCMSearching.run`.
    slot.pointee.state.store(ReconnectSlot.lost, ordering: .releasing)
  }

  /// Reattaches the stream if the search has found it and it runs. Returns the number of frames of
  /// silence that it started with; nil if it is still away.
  @_noLocks
  public mutating func reattach(at now: UInt64) -> Int? {
    // Acquires the PCM that the search handed over; pairs with the store in `PCMSearching.reopen`.
    guard let slot = search?.slot.pointer,
      slot.pointee.state.load(ordering: .acquiring) == ReconnectSlot.reopened
    else { return nil }
    swap(&pcm, &slot.pointee.pcm)
    slot.pointee.state.store(ReconnectSlot.free, ordering: .relaxed)
    moved = slot.pointee.silence
    readTime = nil
    restarts.end()
    return moved
  }

  /// Makes the search end, and does not wait for it.
  public func endReconnection() { search?.end() }

  /// Stops the stream at once, and ends the search for it.
  public mutating func stop() {
    pcm?.stop()
    search = nil
  }
}

@_noLocks
private func callALSAStream(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: ALSAStream.self), storing: answer)
}

import AudioBasics
import AudioClocks
import RealtimeAudio

@testable import AudioDevices

/// One direction of a device of 48 kHz with periods of 64 frames and an exact clock. An input
/// captures a constant level of 0.5.
struct TimedStream: StreamDriver, ~Copyable {
  /// The settings that the test changes, and the counted calls.
  struct Script {
    /// The state that every query returns; nil while the stream runs.
    var state: StreamState?
    /// The time in nanoseconds at which its count of frames stops; nil if it does not stop.
    var frozenTime: UInt64?
    var refusesStart = false
    /// The number of frames that its server dropped after the last frame that it kept.
    var droppedFrames = 0
    /// Whether it cannot be found again.
    var isAway = false
    var starts = 0
    var detachments = 0
    /// The calls that end the search or stop the stream, of all streams of a pair in their order.
    var endings: MutexBox<[String]>?
  }

  private(set) var configuration = StreamConfiguration(
    device: "timed", sampleRate: 48000, channelCount: 1, format: .floatLE, periodFrames: 64,
    bufferFrames: 8192)
  private let isInput: Bool
  private let script: MutexBox<Script>
  private var memory = DeviceBuffer(format: .floatLE, channelCount: 1, frameCount: 64)
  private var began: UInt64 = 0
  /// The number of frames read or written since its start.
  private var moved = 0

  /// Creates a stream. With `catchUpSeconds`, its server keeps the frames for which its buffer has no
  /// room.
  init(
    isInput: Bool, _ script: MutexBox<Script>, catchUpSeconds: Double? = nil,
    bufferFrames: Int = 8192
  ) {
    self.isInput = isInput
    self.script = script
    configuration.bufferFrames = bufferFrames
    configuration.catchUpSeconds = catchUpSeconds
    var level = SampleBuffer(frameCount: 64, channelCount: 1)
    for frame in 0..<64 { level[frame] = 0.5 }
    memory.store(level, from: 0, frames: 64)
  }

  static let function: DriverFunction = {
    perform($1, on: $0.assumingMemoryBound(to: TimedStream.self), storing: $2)
  }

  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    guard !script.withLock({ $0.refusesStart }) else {
      throw DeviceFailure(.lost, "It went away.", hint: "Plug it in again.")
    }
    script.withLock {
      $0.starts += 1
      $0.droppedFrames = 0
    }
    began = now
    moved = isInput ? 0 : frames
  }

  func readState(at now: UInt64) -> StreamState {
    let (state, frozen, dropped) = script.withLock {
      ($0.state, $0.frozenTime, $0.droppedFrames)
    }
    if let state { return state }
    let time = min(now, frozen ?? now)
    var frames = Int(rounding: Double(time - began) * 48e-6) - dropped
    if configuration.catchUpSeconds != nil {
      frames = min(frames, moved + configuration.bufferFrames)
    }
    return .running(
      ClockReading(frames: frames, nanoseconds: time),
      available: isInput ? frames - moved : 8192 - moved + frames)
  }

  func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? { memory.frames(frames) }

  mutating func commit(_ frames: Int) -> Bool {
    moved += frames
    return true
  }

  func detach(silence frames: Int) { script.withLock { $0.detachments += 1 } }

  mutating func reattach(at now: UInt64) -> Int? {
    guard !script.withLock({ $0.isAway }) else { return nil }
    began = now
    moved = isInput ? 0 : 1024
    return moved
  }

  func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool { true }
  func endReconnection() { note("end") }
  func stop() { note("stop") }

  private func note(_ call: String) {
    script.withLock { $0.endings }?.withLock { $0.append(call) }
  }
}

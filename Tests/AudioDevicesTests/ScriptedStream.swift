import AudioBasics
import AudioClocks
import AudioDevices
import RealtimeAudio

/// An output of 24 kHz with its own clock. Each query returns the next state of a script; after the
/// end of the script it runs exactly at its nominal rate.
struct ScriptedStream: StreamDriver, ~Copyable {
  /// The recorded calls and samples.
  struct Log {
    /// The number of silent frames at each start, and at each loss.
    var started: [Int] = []
    var detached: [Int] = []
    var samples: [Float] = []
  }

  let configuration = StreamConfiguration(
    device: "stream", sampleRate: 24000, channelCount: 1, format: .floatLE, periodFrames: 32,
    bufferFrames: 8192)
  private var states: [StreamState]
  private let log: MutexBox<Log>
  private let memory = DeviceBuffer(format: .floatLE, channelCount: 1, frameCount: 32)
  private var samples = SampleBuffer(frameCount: 32, channelCount: 1)
  private var began: UInt64 = 0
  private var isAway = false

  init(_ states: [StreamState] = [], log: MutexBox<Log>) {
    self.states = states
    self.log = log
  }

  static let function: DriverFunction = {
    perform($1, on: $0.assumingMemoryBound(to: ScriptedStream.self), storing: $2)
  }

  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    log.withLock { $0.started.append(frames) }
    began = now
  }

  mutating func readState(at now: UInt64) -> StreamState {
    guard states.isEmpty else { return states.removeFirst() }
    let frames = Int((now - began) * 24 / 1_000_000)
    return .running(ClockReading(frames: frames, nanoseconds: now), available: 4096)
  }

  func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? { memory.frames(frames) }

  mutating func commit(_ frames: Int) -> Bool {
    memory.load(frames: frames, into: &samples, at: 0)
    log.withLock { all in
      for index in 0..<frames { all.samples.append(samples[index]) }
    }
    return true
  }

  mutating func detach(silence frames: Int) {
    isAway = true
    log.withLock { $0.detached.append(frames) }
  }

  /// Finds the device at the first call.
  mutating func reattach(at now: UInt64) -> Int? {
    guard isAway else { return nil }
    isAway = false
    began = now
    return log.withLock { $0.detached.last ?? 0 }
  }

  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool { true }
  mutating func stop() {}
}

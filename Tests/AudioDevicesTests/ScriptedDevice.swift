import AudioBasics
import AudioDevices
import RealtimeAudio

/// A device that returns the next result of a script on each wait and is always ready after the end
/// of the script. A period is 100 ms of its own clock.
struct ScriptedDevice: DuplexDriver, ~Copyable {
  enum Answer {
    case ready, waiting, xrun, lost
    /// Ready, but without a frame.
    case empty
  }

  static let period = 4800

  let configuration: DuplexConfiguration
  private(set) var now: UInt64 = 1_000_000_000
  private(set) var periodTime: UInt64 = 0
  private var answers: [Answer]
  private var returns: [DeviceReturn]
  private let recovers: Bool
  private let log: MutexBox<[String]>
  private var lostFrames = 0
  private var isEmpty = false
  private let memory: DeviceBuffer

  init(
    _ answers: [Answer], returns: [DeviceReturn] = [], recovers: Bool = true,
    log: MutexBox<[String]> = MutexBox([])
  ) {
    self.answers = answers
    self.returns = returns
    self.recovers = recovers
    self.log = log
    let stream = StreamConfiguration(
      device: "scripted", sampleRate: 48000, channelCount: 1, format: .s16LE,
      periodFrames: Self.period, bufferFrames: 4 * Self.period)
    configuration = DuplexConfiguration(
      sampleRate: 48000, periodFrames: Self.period, headroomFrames: Self.period, capture: stream,
      playback: nil)
    memory = DeviceBuffer(format: .s16LE, channelCount: 1, frameCount: Self.period)
  }

  static let function: DriverFunction = {
    perform($1, on: $0.assumingMemoryBound(to: ScriptedDevice.self), storing: $2)
  }

  mutating func start() throws(DeviceFailure) {}

  mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = poll()
    status.periodTime = periodTime
    status.readyTime = now
    status.lostFrames = lostFrames
    if case .ready = status.readiness { lostFrames = 0 }
  }

  private mutating func poll() -> DeviceReadiness {
    pass()
    let answer = answers.isEmpty ? .ready : answers.removeFirst()
    isEmpty = answer == .empty
    switch answer {
    case .ready, .empty:
      periodTime = now
      return .ready
    case .waiting: return .waiting
    case .xrun: return .xrun(.captureXrun)
    case .lost: return .lost
    }
  }

  mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    isEmpty ? nil : memory.frames(frames)
  }
  mutating func release(_ frames: Int) {}
  mutating func playbackRoom(_ frames: Int) -> DeviceFrames? { nil }
  mutating func commit(_ frames: Int) {}

  mutating func takeEvent() -> DeviceEvent? { nil }
  func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }
  mutating func recover() throws(DeviceFailure) {
    note("recover")
    guard recovers else {
      throw DeviceFailure(.lost, "The device went away.", hint: "Plug it in again.")
    }
    lostFrames = Self.period
  }

  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {}
  mutating func close() { note("let go") }

  mutating func pollForReconnection() -> DeviceReturn {
    pass()
    let found = returns.isEmpty ? .absent : returns.removeFirst()
    if case .returned = found { lostFrames = Int((now - periodTime) * 48 / 1_000_000) }
    return found
  }

  mutating func stop(draining: Bool) {}

  private mutating func pass() { now += 100_000_000 }
  private func note(_ word: String) { log.withLock { $0.append(word) } }
}

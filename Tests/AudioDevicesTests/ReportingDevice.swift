import AudioBasics
import AudioDevices
import RealtimeAudio

/// A device of 24 kHz with periods of 32 frames, which returns the next status on each wait.
struct ReportingDevice: DuplexDriver, ~Copyable {
  /// The number of waits, and the number of frames played.
  struct Log {
    var waits = 0
    var played = 0
  }

  let configuration: DuplexConfiguration
  private(set) var now: UInt64 = 1_000_000_000
  private var statuses: [DeviceStatus]
  private var events: [DeviceEvent]
  private let log: MutexBox<Log>
  private let memory = DeviceBuffer(format: .floatLE, channelCount: 1, frameCount: 32)
  private let isEmpty: Bool
  /// The cycles, counted from 0, for which the output has no room.
  private let fullCycles: Set<Int>
  private var cycle = -1

  init(
    _ statuses: [DeviceStatus], events: [DeviceEvent], isEmpty: Bool, hasCapture: Bool,
    fullCycles: Set<Int> = [], log: MutexBox<Log>
  ) {
    let stream = StreamConfiguration(
      device: "reporting", sampleRate: 24000, channelCount: 1, format: .floatLE, periodFrames: 32,
      bufferFrames: 1024)
    configuration = DuplexConfiguration(
      sampleRate: 24000, periodFrames: 32, headroomFrames: 32, capture: hasCapture ? stream : nil,
      playback: stream)
    self.statuses = statuses
    self.events = events
    self.isEmpty = isEmpty
    self.fullCycles = fullCycles
    self.log = log
  }

  static let function: DriverFunction = {
    perform($1, on: $0.assumingMemoryBound(to: ReportingDevice.self), storing: $2)
  }

  mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    log.withLock { $0.waits += 1 }
    now += 32_000_000 / 24
    status = statuses.isEmpty ? .ready() : statuses.removeFirst()
    status.periodTime = now
    status.readyTime = now
  }

  func capturedFrames(_ frames: Int) -> DeviceFrames? { isEmpty ? nil : memory.frames(frames) }
  func release(_ frames: Int) {}

  mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    cycle += 1
    return fullCycles.contains(cycle) ? nil : memory.frames(frames)
  }

  func commit(_ frames: Int) { log.withLock { $0.played += frames } }
  mutating func takeEvent() -> DeviceEvent? { events.isEmpty ? nil : events.removeFirst() }
  func start() throws(DeviceFailure) {}
  func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
    guard index < 2 else { return nil }
    return SecondaryOutputReading(
      drift: DriftReading(ppm: 0, errorFrames: 0, relocks: 0), xruns: 100 + index)
  }
  func recover() throws(DeviceFailure) {}
  func stop(draining: Bool) {}
  func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {}
  func close() {}
  func pollForReconnection() -> DeviceReturn { .returned(cards: []) }
}

extension DeviceStatus {
  /// Returns the status of a period that is ready.
  static func ready(lost: Int = 0, bridged: Int? = 0, latency: Int = 0) -> DeviceStatus {
    var status = DeviceStatus()
    status.readiness = .ready
    status.lostFrames = lost
    status.concealedFrames = bridged
    status.reportedLatencyFrames = latency
    return status
  }
}

import AudioBasics
import AudioDevices
import RealtimeAudio

/// An output of one channel that keeps all samples written to it. A period is 1 ms of its own
/// clock.
struct PlayedDevice: DuplexDriver, ~Copyable {
  /// Whether it accepts frames: always, or never although it reports that it is ready.
  enum Room {
    case always, never
  }

  let configuration: DuplexConfiguration
  private(set) var now: UInt64 = 1_000_000_000
  private let room: Room
  private let played: MutexBox<[Float]>
  private var memory: DeviceBuffer
  private var samples: SampleBuffer

  init(
    sampleRate: Int, periodFrames: Int, room: Room = .always,
    played: MutexBox<[Float]> = MutexBox([])
  ) {
    let stream = StreamConfiguration(
      device: "played", sampleRate: sampleRate, channelCount: 1, format: .floatLE,
      periodFrames: periodFrames, bufferFrames: 2 * periodFrames)
    configuration = DuplexConfiguration(
      sampleRate: sampleRate, periodFrames: periodFrames, headroomFrames: periodFrames,
      capture: nil, playback: stream)
    self.room = room
    self.played = played
    memory = DeviceBuffer(format: .floatLE, channelCount: 1, frameCount: periodFrames)
    samples = SampleBuffer(frameCount: periodFrames, channelCount: 1)
  }

  static let function: DriverFunction = {
    perform($1, on: $0.assumingMemoryBound(to: PlayedDevice.self), storing: $2)
  }

  mutating func start() throws(DeviceFailure) {}

  mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = poll()
    status.periodTime = now
    status.readyTime = now
    status.lostFrames = 0
  }

  private mutating func poll() -> DeviceReadiness {
    now += 1_000_000
    return .ready
  }

  mutating func capturedFrames(_ frames: Int) -> DeviceFrames? { nil }
  mutating func release(_ frames: Int) {}

  mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    room == .always ? memory.frames(frames) : nil
  }

  mutating func commit(_ frames: Int) {
    memory.load(frames: frames, into: &samples, at: 0)
    played.withLock { all in
      for index in 0..<frames { all.append(samples[index]) }
    }
  }

  mutating func takeEvent() -> DeviceEvent? { nil }
  func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }
  mutating func recover() throws(DeviceFailure) {}
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {}
  mutating func close() {}
  mutating func pollForReconnection() -> DeviceReturn { .absent }
  mutating func stop(draining: Bool) {}
}

/// Callbacks that play the samples of a table and end with its last frame.
struct TablePlayer: DuplexCallbacks, ~Copyable {
  private let table: [Float]
  private var place = 0
  private var scratch: SampleBuffer

  init(_ table: [Float], periodFrames: Int) {
    self.table = table
    scratch = SampleBuffer(frameCount: periodFrames, channelCount: 1)
  }

  mutating func output(_ output: inout OutputCycle) {
    let count = min(output.frameCount, table.count - place)
    for index in 0..<count { scratch[index] = table[place + index] }
    place += count
    output.play(scratch)
    if place == table.count { output.end(after: count) }
  }
}

import AudioBasics
import AudioDevices
import Glibc
import RealtimeAudio
import SimulatedDevices

/// Callbacks that play the samples of a table by timeline frame and store the captured samples by
/// timeline frame. Frames that were not delivered stay at `missing`.
struct PlayAndCapture: DuplexCallbacks, ~Copyable {
  static let missing: Float = -9
  var signal: [Float]
  var heard: [Float]
  var gaps: [Int] = []
  var times: [UInt64] = []
  var playTimes: [UInt64] = []
  var scratch: SampleBuffer

  init(signal: [Float], frames: Int, periodFrames: Int, channelCount: Int) {
    self.signal = signal
    heard = Array(repeating: Self.missing, count: frames * channelCount)
    scratch = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
  }

  mutating func input(_ input: borrowing InputCycle) {
    input.render(into: &scratch)
    if input.time.lostFrames > 0 { gaps.append(input.time.frame) }
    times.append(input.time.nanoseconds)
    let first = input.time.frame * input.channelCount
    for index in 0..<input.frameCount * input.channelCount { heard[first + index] = scratch[index] }
  }

  mutating func output(_ output: inout OutputCycle) {
    for frame in 0..<output.frameCount {
      for channel in 0..<output.channelCount {
        let position = output.time.frame + frame
        let sample = position < signal.count ? signal[position] : 0
        // The second channel plays the inverted first one, so that exchanged channels are detected.
        scratch[frame * output.channelCount + channel] = channel == 0 ? sample : -sample
      }
    }
    playTimes.append(output.time.nanoseconds)
    output.play(scratch)
  }
}

/// Returns a signal with a different value at every frame, in steps that 16 bits can represent.
func counter(_ frames: Int) -> [Float] {
  (0..<frames).map { Float(($0 &* 7919) % 32768) / 32768 }
}

/// Returns the index of the first difference between two signals; nil if they are equal.
func difference(_ one: some Collection<Float>, _ other: some Collection<Float>) -> Int? {
  if one.count != other.count { return min(one.count, other.count) }
  return zip(one, other).enumerated().first { $1.0 != $1.1 }?.offset
}

/// Returns the largest difference between two signals, from frame `first` on.
func distance(_ one: [Float], _ other: [Double], from first: Int) -> Double {
  zip(one, other).dropFirst(first).map { abs(Double($0) - $1) }.max() ?? 0
}

func sine(_ cyclesPerFrame: Double, at frame: Double) -> Double {
  sin(2 * .pi * cyclesPerFrame * frame)
}

/// Returns the reading side of a ring that contains `samples`, interleaved.
func reader(of samples: [Float], channelCount: Int = 1) -> SampleReader {
  let frames = samples.count / channelCount
  var writer = SampleWriter(frameCount: frames, channelCount: channelCount)
  let reader = writer.makeReader()
  _ = writer.write(SampleBuffer(samples, channelCount: channelCount), frames: frames)
  return reader
}

/// A device that is driven by the test, and its last status.
struct DrivenDevice: ~Copyable {
  private var device: DuplexDevice
  private(set) var status = DeviceStatus()

  init<Driver: DuplexDriver & ~Copyable>(_ driver: consuming Driver) {
    device = DuplexDevice(driver)
  }

  var configuration: DuplexConfiguration { device.configuration }
  var now: UInt64 { device.now }

  mutating func start() throws(DeviceFailure) { try device.start() }

  mutating func wait() -> DeviceReadiness {
    device.wait(&status)
    return status.readiness
  }

  mutating func capturedFrames(_ frames: Int) -> DeviceFrames? { device.capturedFrames(frames) }
  mutating func release(_ frames: Int) { device.release(frames) }
  mutating func playbackRoom(_ frames: Int) -> DeviceFrames? { device.playbackRoom(frames) }
  mutating func commit(_ frames: Int) { device.commit(frames) }
  mutating func recover() throws(DeviceFailure) { try device.recover() }
  mutating func close() { device.close() }
  mutating func pollForReconnection() -> DeviceReturn { device.pollForReconnection() }
  mutating func stop(draining: Bool) { device.stop(draining: draining) }
}

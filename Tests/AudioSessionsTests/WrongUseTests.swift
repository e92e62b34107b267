import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import FatalErrors
import Foundation
import RealtimeAudio
import SimulatedDevices
import Testing

/// A decoder that reports one frame more than requested.
private final class Overshooting: PlainSoundDecoder {
  let name = "overshooting"
  let sampleRate = 48000
  let channelCount = 2
  let frameCount: Int? = 96000
  let supportsSeeking = true
  private(set) var position = 0

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    position += frames + 1
    return frames + 1
  }

  func seek(toFrame frame: Int) throws(FileFailure) { position = frame }
}

/// Callbacks that render into a buffer of any shape.
private struct Renderer: SessionCallbacks, ~Copyable {
  var buffer: SampleBuffer

  init(frames: Int, channels: Int) {
    buffer = SampleBuffer(frameCount: frames, channelCount: channels)
  }

  mutating func input(_ input: borrowing InputCycle) { input.render(into: &buffer) }
  mutating func finish() {}
}

private struct Nothing: AudioEffect {
  mutating func process(_ frames: inout EffectFrames) {}
}

private struct Beyond: AudioEffect {
  mutating func process(_ frames: inout EffectFrames) { frames[frames.count, 0] = 1 }
}

private func simulated() throws -> SimulatedDevice {
  var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
  request.periodFrames = 128
  return try SimulatedDevice(
    SimulatedDeviceSpecification(parsing: "sim:clock=free"), request: request)
}

private func run(_ renderer: consuming Renderer) throws {
  let runner = SessionRunner(
    device: try simulated(), callbacks: renderer, background: [], meter: nil, frameLimit: 4800)
  _ = try runner.run(clock: .virtual) { _, _ in .proceed }
}

/// Tests of the messages for programs that use the library wrongly, also in release builds: modules
/// that are optimised in debug builds omit the messages of `precondition`.
@Suite struct WrongUseTests {
  @Test func `a buffer shorter than the period causes a message`() async {
    expectFatalError(
      "The buffer is shorter than the cycle: it needs periodFrames of the configuration.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        try run(Renderer(frames: 64, channels: 2))
      })
  }

  @Test func `a buffer with another channel count than the device causes a message`() async {
    expectFatalError(
      "The buffer must have the number of channels that the device was opened with.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        try run(Renderer(frames: 128, channels: 1))
      })
  }

  @Test func `more frames than a buffer holds cause a message`() async {
    expectFatalError(
      "The frames are outside of the buffer.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var ring = SampleWriter(frameCount: 1024, channelCount: 2)
        _ = ring.write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 65)
      })
  }

  @Test func `a sample outside of a buffer causes a message`() async {
    expectFatalError(
      "The sample is outside of the buffer.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
        buffer[128] = 1
      })
  }

  @Test func `effects with other channels, unprepared or out of bounds cause a message`() async {
    expectFatalError(
      "EffectInsert.prepare must be called before the effects run.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var insert = EffectInsert(Nothing())
        var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
        insert.process(&buffer, frames: 64)
      })
    expectFatalError(
      "The number of channels must be the one that the effects were prepared for.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var insert = EffectInsert(Nothing())
        insert.prepare(EffectFormat(sampleRate: 48000, channelCount: 1, maximumFrames: 64))
        var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
        insert.process(&buffer, frames: 64)
      })
    expectFatalError(
      "The frame or channel is outside of the effect's frames.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var insert = EffectInsert(Beyond())
        insert.prepare(EffectFormat(sampleRate: 48000, channelCount: 2, maximumFrames: 64))
        var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
        insert.process(&buffer, frames: 64)
      })
  }

  @Test func `a decoder that returns more frames than requested causes a message`() async {
    expectFatalError(
      "A decoder must return 0 to the number of frames it was asked for.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        let player = AudioPlayer()
        player.enqueue(Overshooting())
        player.play()
        _ = try? player.attach(
          to: AudioPlayer.Shape(sampleRate: 48000, channelCount: 2, periodFrames: 64))
        for _ in 0..<10 { for work in player.background { _ = work.step() } }
      })
  }

  @Test(arguments: [(64, 2, 2), (128, 1, 2), (128, 2, 1)])
  func `a mixer with another period or channel count than the device is refused`(
    periodFrames: Int, captureChannels: Int, playbackChannels: Int
  ) throws {
    let mixer = Mixer(
      periodFrames: periodFrames, captureChannels: captureChannels,
      playbackChannels: playbackChannels)
    let runner = SessionRunner(
      device: try simulated(), callbacks: mixer, background: [], meter: nil, frameLimit: 4800)
    var failure: DeviceFailure?
    do { _ = try runner.run(clock: .virtual) { _, _ in .proceed } } catch { failure = error }
    #expect(failure?.kind == .invalidRequest)
    #expect(failure?.message.hasPrefix("The mixer ") == true)
  }
}

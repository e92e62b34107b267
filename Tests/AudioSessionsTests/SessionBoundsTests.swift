import AudioBasics
import AudioDevices
import AudioFiles
import FatalErrors
import Glibc
import RealtimeAudio
import Testing

@testable import AudioSessions

/// Tests of the parts of a session with numbers beyond all ranges.
@Suite struct SessionBoundsTests {
  @Test func `too many channels of a limiter, a meter or a gate cause a message`() async {
    expectFatalError(
      "A limiter has at most 1024 channels.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        _ = Limiter(limit: 1, sampleRate: 48000, channelCount: .max, lookAheadSeconds: 0.01)
      })
    expectFatalError(
      "A meter has 0 to 1024 channels.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        print(Meter.readingWidth(.max))
      })
    expectFatalError(
      "A gate has at most 1024 channels.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        _ = VoiceGate(VoiceSettings(sampleRate: 48000, channelCount: .max))
      })
  }

  @Test func `frames beyond a cycle may be added, and are not heard`() {
    var bus = MixerBus(periodFrames: 8, channelCount: 1)
    for _ in 0..<2 {
      bus.begin(frames: 4, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
      bus.clear()
      var sound = SampleBuffer([1, 2, 3, 4, 5, 6, 7, 8], channelCount: 1)
      bus.add(&sound, frames: 6)
      #expect([Float](bus.buffer).prefix(bus.frames) == [1, 2, 3, 4])
    }
  }

  @Test(arguments: [1_536_001, Int.max])
  func `a gate for a rate that no sound has treats it as the highest rate`(rate: Int) {
    let buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    var gate = VoiceGate(VoiceSettings(sampleRate: rate, channelCount: 1))
    let highest = VoiceGate(VoiceSettings(sampleRate: 1_536_000, channelCount: 1))
    #expect(gate.lookaheadFrames == highest.lookaheadFrames)
    for _ in 0..<10 { gate.process(buffer, from: 0, frames: 64) }
    gate.finish()
  }

  @Test func `a window counts any number of frames`() {
    let buffer = SampleBuffer(frameCount: 1, channelCount: 1)
    var gate = WindowGate(PunchWindow(firstFrame: 10, frames: .max))
    for frames in [Int.max, .max, .min, -1, 0] {
      gate.process(buffer, from: 0, frames: frames)
    }
    gate.finish()
    #expect(gate.nextEdge() == .open(10) && gate.nextEdge() == .close(.max))
  }

  @Test(arguments: [(0, 48000), (Int.min, 48000), (2, 48000), (Int.max, 1)])
  func `a ring for any number of channels has at least one frame`(channels: Int, frames: Int) {
    let found = RecordingPlan.ringFrames(seconds: 1, sampleRate: 48000, channelCount: channels)
    #expect(found == frames)
  }

  @Test(arguments: [(64, 2048), (4096, 8192), (65536, 131_072), (Int.max, 67_108_864), (-1, 2048)])
  func `a ring has room for two periods`(period: Int, frames: Int) {
    let found = RecordingPlan.ringFrames(
      seconds: 0.01, sampleRate: 8000, channelCount: 1, periodFrames: period)
    #expect(found == frames)
  }

  @Test func `reports of impossible lengths are added`() {
    var report = SessionReport()
    report.frames = .max
    report.lostFrames = .min
    report.add(report, at: .max)
    #expect(report.frames == .max && report.lostFrames == .min)
    var recording = RecordingReport()
    recording.frames = .max
    recording.gaps = [RecordingGap(frame: .max, frames: 1)]
    recording.add(recording)
    #expect(recording.frames == .max && recording.gaps.count == 2)
  }

  private static let prebuffers: [(Double, Double)] = [
    (.nan, 0), (-1, 0), (-.infinity, 0), (0, 0), (2.5, 2.5),
  ]

  @Test(arguments: prebuffers)
  func `a prebuffer below 0 counts as 0`(asked: Double, taken: Double) {
    #expect(AudioPlayer(prebufferSeconds: asked).prebufferSeconds == taken)
    #expect(AudioPlayer().prebufferSeconds == nil)
  }
}

import AudioBasics
import AudioDevices
import RealtimeAudio
import SimulatedDevices
import Testing

@testable import AudioSessions

@Suite struct LostSoundTests {
  @Test func `after lost frames the microphone fades in from silence`() throws {
    let name = "sim:clock=free,noise=-20,gain=-200,xrun-at=0.5"
    var request = DuplexRequest(captureDevice: name, playbackDevice: name)
    request.periodFrames = 64
    request.channelCount = 1
    let device = try SimulatedDevice(
      SimulatedDeviceSpecification(parsing: name), request: request)
    var callbacks = Mixer(periodFrames: 64, captureChannels: 1, playbackChannels: 1)
    callbacks.monitor = SmoothedGain(fadingInTo: .unity, frames: 64)
    var dimmed = PublishedFlag()
    dimmed.publish(false)
    callbacks.protection = MonitorProtection(sampleRate: 48000, dimRequest: dimmed.makeView())
    let recorder = Recorder(frameCount: 96000, channelCount: 1, sampleRate: 48000)
    var feed = recorder.makeReader()
    callbacks.outputRecorder = consume recorder
    var unit = DuplexUnit(
      device: device, callbacks: callbacks, progress: UnitProgress(), frameLimit: 48000)
    try unit.start()
    let failure = unit.run()
    #expect(failure == nil)
    unit.stop()
    unit.callbacks.finish()

    var gapEnd = 0
    var heard: [Float] = []
    var chunk = SampleBuffer(frameCount: 4096, channelCount: 1)
    while true {
      while let gap = feed.takeGap(isLast: true) { gapEnd = heard.count + gap.frames }
      let count = feed.read(into: &chunk, frames: chunk.frameCount)
      guard count > 0 else { break }
      for index in 0..<count { heard.append(chunk[index]) }
    }
    func peak(_ range: Range<Int>) -> Float { heard[range].map(abs).max() ?? 0 }
    #expect(gapEnd > 0 && heard.count == 48000)
    // A fade-in of 20 ms.
    #expect(peak(gapEnd..<gapEnd + 20) < 0.03 * peak(gapEnd + 960..<gapEnd + 4800))
    #expect(peak(gapEnd..<gapEnd + 480) < 0.6 * peak(gapEnd + 960..<gapEnd + 4800))
    #expect(peak(gapEnd + 960..<gapEnd + 4800) > 0.05)
  }
}

import AudioBasics
import FakePCM
import Testing

@testable import AudioDevices

/// Tests of devices without mapped memory whose own period differs from the cycle.
@Suite struct CopiedFramesTests {
  @Test(arguments: [false, true])
  func `an unmapped output accepts cycles that are longer than its own period`(
    isPlanar: Bool
  ) throws {
    let (capture, playback) = (FakePCM.make(), FakePCM.make())
    (playback.pointee.is_copied, playback.pointee.is_planar) = (true, isPlanar)
    (playback.pointee.period, playback.pointee.buffer) = (32, 256)
    (capture.pointee.companion, capture.pointee.step) = (playback, 64)
    var samples = SampleBuffer(frameCount: 64, channelCount: 1)
    let closures = DuplexClosures(
      input: { $0.render(into: &samples) }, output: { $0.play(samples) })
    var unit = DuplexUnit(
      device: try ALSADuplex(opening: .fake(capture, playback)), callbacks: closures,
      progress: UnitProgress(), frameLimit: 128)
    // The memory is filled after the device was opened, because its earlier contents are not
    // captured.
    capture.fill { Int16($0 % 1000) }
    #expect(unit.configuration.playback?.periodFrames == 32)
    try unit.start()
    #expect(unit.run() == nil)
    // The frames follow one period and the headroom of silence.
    #expect(playback.pointee.application == 256)
    #expect((0..<128).allSatisfy { playback.samples[128 + $0] == Int16($0) })
  }
}

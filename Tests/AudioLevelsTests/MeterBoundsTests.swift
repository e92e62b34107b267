import AudioBasics
import AudioLevels
import FatalErrors
import Glibc
import Testing

/// Tests of meters for more channels than sound can have.
@Suite struct MeterBoundsTests {
  @Test func `a meter for too many channels causes a message`() async {
    expectFatalError(
      "A meter has at most 1024 channels.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        _ = TruePeaks(sampleRate: 48000, channelCount: .max)
      })
    expectFatalError(
      "A meter has at most 1024 channels.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        _ = LoudnessMeter(sampleRate: 48000, channelCount: .max)
      })
  }

  @Test func `a meter for 1024 channels measures each of them`() {
    var meter = LoudnessMeter(sampleRate: 48000, channelCount: 1024)
    var buffer = SampleBuffer(frameCount: 2, channelCount: 1024)
    buffer[1, 1023] = 0.5
    meter.add(buffer, frames: 2)
    #expect(meter.levels.samplePeaks.last == 0.5 && meter.levels.samplePeaks.first == 0)
  }
}

import AudioBasics
import AudioSessions
import RealtimeAudio
import Testing

@Suite struct PlayerTests {
  @Test func `a starved player plays silence, counts it and goes on`() {
    var ring = SampleWriter(frameCount: 64, channelCount: 1)
    var player = Player(ring: ring.makeReader(), channelCount: 1, periodFrames: 16)
    let starved = player.makeStarvationView()
    var sound = SampleBuffer(frameCount: 16, channelCount: 1)
    for index in 0..<16 { sound[index] = 1 }
    var mix = SampleBuffer(frameCount: 16, channelCount: 1)

    _ = ring.write(sound, frames: 10)
    var count = player.play(into: &mix, frames: 16)
    #expect(count == 10)
    var late = starved.value
    #expect(late == 6)
    #expect((mix[9], mix[10]) == (1, 0))

    _ = ring.write(sound, frames: 16)
    ring.finish()
    count = player.play(into: &mix, frames: 16)
    #expect(count == 16)
    #expect(mix[0] == 2)
    count = player.play(into: &mix, frames: 16)
    #expect(count == 0)
    let isFinished = player.isFinished
    #expect(isFinished)
    // Silence behind the end is no starvation.
    late = starved.value
    #expect(late == 6)
  }
}

import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import Testing

@Suite struct PlayerTests {
  @Test func `a starved player plays silence, counts it and continues`() {
    var ring = SampleWriter(frameCount: 64, channelCount: 1)
    var player = PlayerStage(ring: ring.makeReader(), channelCount: 1, periodFrames: 16)
    let starved = player.makeStarvationView()
    var sound = SampleBuffer(frameCount: 16, channelCount: 1)
    for index in 0..<16 { sound[index] = 1 }
    var bus = MixerBus(periodFrames: 16, channelCount: 1)
    bus.begin(frames: 16, at: .start)
    func played(_ player: inout PlayerStage, _ bus: inout MixerBus) -> Int {
      player.process(&bus)
      return player.playedFrames
    }

    _ = ring.write(sound, frames: 10)
    var count = played(&player, &bus)
    #expect(count == 10)
    var late = starved.value
    #expect(late == 6)
    #expect((bus.buffer[9], bus.buffer[10]) == (1, 0))

    _ = ring.write(sound, frames: 16)
    ring.finish()
    count = played(&player, &bus)
    #expect(count == 16)
    let sum = bus.buffer[0]
    #expect(sum == 2)
    count = played(&player, &bus)
    #expect(count == 0)
    let isFinished = player.isFinished
    #expect(isFinished)
    // Silence after the end does not count as starvation.
    late = starved.value
    #expect(late == 6)
  }

  @Test func `with keepsTimeline frames that are late are left out`() {
    var ring = SampleWriter(frameCount: 64, channelCount: 1)
    var player = PlayerStage(ring: ring.makeReader(), channelCount: 1, periodFrames: 8)
    player.keepsTimeline = true
    var sound = SampleBuffer(frameCount: 64, channelCount: 1)
    for index in 0..<64 { sound[index] = Float(index) }
    func heard(_ player: inout PlayerStage, lostFrames: Int = 0) -> [Float] {
      var bus = MixerBus(periodFrames: 8, channelCount: 1)
      bus.begin(frames: 8, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: lostFrames))
      player.process(&bus)
      return (0..<8).map { bus.buffer[$0] }
    }

    // Frames 0 to 3 arrive in time, frames 4 to 7 do not.
    _ = ring.write(sound, frames: 4)
    #expect(heard(&player) == [0, 1, 2, 3, 0, 0, 0, 0])
    _ = ring.write(sound, from: 4, frames: 20)
    #expect(heard(&player) == [8, 9, 10, 11, 12, 13, 14, 15])
    // The unit lost 10 frames, two of which are not queued yet.
    #expect(heard(&player, lostFrames: 10) == [0, 0, 0, 0, 0, 0, 0, 0])
    _ = ring.write(sound, from: 24, frames: 40)
    #expect(heard(&player) == [34, 35, 36, 37, 38, 39, 40, 41])
  }

  @Test func `a count-in has the length of its beats, with a click at each beat`() throws {
    let clicks = ClickTrack(beats: 3, tempo: 90, sampleRate: 8000, channelCount: 1)
    #expect(clicks.frameCount == 16000)
    var buffer = SampleBuffer(frameCount: 20000, channelCount: 1)
    let count = try clicks.read(into: &buffer, frames: 20000)
    #expect(count == 16000)
    for beat in 0..<3 {
      let start = Int(clamping: (Double(beat) * 16000 / 3).rounded(.up))
      let loudest = (start..<start + 160).map { abs(buffer[$0]) }.max() ?? 0
      let quietest = (start + 160..<start + 5000).map { abs(buffer[$0]) }.max() ?? 1
      #expect(loudest > 0.1 && loudest <= 0.25)
      #expect(quietest == 0)
    }
    let after = try clicks.read(into: &buffer, frames: 10)
    #expect(after == 0)
  }
}

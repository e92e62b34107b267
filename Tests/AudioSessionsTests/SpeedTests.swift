import AudioBasics
import AudioFiles
import AudioSessions
import Glibc
import Testing

/// Tests of higher and lower speeds.
@Suite struct SpeedTests {
  /// A calculated sine, so that the effect of a speed is known exactly.
  final class Sine: PlainSoundDecoder {
    let name = "a sine"
    let sampleRate: Int
    let channelCount = 1
    let frameCount: Int?
    let supportsSeeking = true
    private let frequency: Double
    private(set) var position = 0

    init(_ frequency: Double, frames: Int, sampleRate: Int = 48000) {
      self.frequency = frequency
      self.sampleRate = sampleRate
      frameCount = frames
    }

    func read(
      into buffer: inout SampleBuffer, at target: Int, frames: Int
    ) throws(FileFailure) -> Int {
      let count = min(frames, (frameCount ?? 0) - position)
      for frame in 0..<count { buffer[target + frame] = value(at: Double(position + frame)) }
      position += count
      return count
    }

    func value(at frame: Double) -> Float {
      Float(0.5 * sin(2 * Double.pi * frequency * frame / Double(sampleRate)))
    }

    func seek(toFrame frame: Int) throws(FileFailure) { position = frame }
  }

  @Test(arguments: [(0.25, 48000), (0.75, 44100), (1.5, 44100), (4, 48000)])
  func `at any speed every frame is that of the sine, and the length is exact`(
    speed: Double, rate: Int
  ) throws {
    let rig = try PlayerRig()
    var settings = TrackSettings()
    settings.speed = speed
    let sine = Sine(440, frames: 5000, sampleRate: rate)
    rig.player.enqueue(Sine(440, frames: 5000, sampleRate: rate), settings: settings)
    rig.player.play()
    var heard: [Float] = []
    while !rig.isFinished, heard.count < 200_000 { heard += rig.cycle() }
    let ratio = Double(rate) * speed / 48000
    let count = Int(rounding: 5000 / ratio)
    // Without the edges, where the sine starts and ends abruptly.
    let edge = Int(clamping: 300 / ratio)
    let errors = (edge..<count - edge).map { frame -> Float in
      abs(heard[frame] - sine.value(at: Double(frame) * ratio))
    }
    #expect((errors.max() ?? 1) < 3e-5)
    rig.conclude()
    #expect(rig.player.playedTracks.map(\.frames) == [count])
  }

  @Test func `changes of speed and direction continue at the position without a step`()
    throws
  {
    let rig = try PlayerRig()
    rig.player.enqueue(Sine(200, frames: 240_000))
    rig.player.play()
    try rig.player.seek(toSeconds: 3)
    var heard: [Float] = []
    for step in 0..<12 {
      heard += rig.run(cycles: 40)
      switch step % 4 {
      case 0: rig.player.setSpeed(Double(step + 10) / 20)
      case 1: rig.player.toggleReversed()
      case 2: rig.player.setSpeed(1)
      default: rig.player.toggleReversed()
      }
    }
    // The maximum slope of a sine of 200 Hz at 2.5 times the speed, and half a frame of rounding at
    // the return to normal speed.
    let steepest = 0.5 * 2 * Double.pi * 200 * 2.5 / 48000 * 1.5
    let steps = zip(heard, heard.dropFirst()).map { abs($0 - $1) }
    #expect(Double(steps.max() ?? 1) < steepest)
  }

  @Test func `speeds out of range are limited to the range`() throws {
    let rig = try PlayerRig()
    rig.player.enqueue(Sine(440, frames: 240_000))
    rig.player.play()
    for (asked, given) in [(100.0, 4.0), (0.001, 0.25), (.nan, 0.25), (1, 1)] {
      rig.player.setSpeed(asked)
      _ = rig.run(cycles: 40)
      #expect(rig.player.settings?.speed == given)
    }
  }

  @Test func `a change shortly before an earlier one is audible waits until it is`() throws {
    let rig = try PlayerRig()
    rig.player.enqueue(Sine(440, frames: 240_000))
    rig.player.play()
    _ = rig.run(cycles: 20)
    rig.player.setSpeed(2)
    // The lead is 1,088 frames, 17 cycles.
    _ = rig.run(cycles: 11)
    rig.player.setSpeed(3)
    _ = rig.run(cycles: 11)
    #expect(rig.player.settings?.speed == 2)
    _ = rig.run(cycles: 20)
    #expect(rig.player.settings?.speed == 3)
  }

  @Test func `tracks are joined without a gap at another speed as well`() throws {
    let rig = try PlayerRig()
    var settings = TrackSettings()
    settings.speed = 0.5
    let whole = try CountedFile(frames: 4000)
    let parts = [try CountedFile(frames: 1500), try CountedFile(frames: 2500, first: 1500)]
    rig.enqueue(whole, settings: settings)
    rig.player.play()
    let one = rig.run(cycles: 130)
    let other = try PlayerRig()
    for part in parts { other.enqueue(part, settings: settings) }
    other.player.play()
    let two = other.run(cycles: 130)
    #expect(one.prefix(8000) == two.prefix(8000))
  }
}

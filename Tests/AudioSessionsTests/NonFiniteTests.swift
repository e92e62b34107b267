import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio
import SimulatedDevices
import Testing

/// Tests of NaN and infinity in sources played at another rate or speed.
@Suite struct NonFiniteTests {
  /// A sine in which three samples at a large distance are replaced.
  final class Broken: PlainSoundDecoder {
    let name = "a broken sine"
    let sampleRate = 44100
    let channelCount = 1
    let frameCount: Int? = 20000
    let supportsSeeking = true
    private let values: [Float]
    private(set) var position = 0

    init(_ values: [Float]) { self.values = values }

    func read(
      into buffer: inout SampleBuffer, at target: Int, frames: Int
    ) throws(FileFailure) -> Int {
      let count = min(frames, 20000 - position)
      for frame in position..<position + count {
        let sine = Float(0.5 * sin(2 * Double.pi * 440 * Double(frame) / 44100))
        let index = [4000, 9000, 15000].firstIndex(of: frame)
        buffer[target + frame - position] = index.map { values[$0] } ?? sine
      }
      position += count
      return count
    }

    func seek(toFrame frame: Int) throws(FileFailure) { position = frame }
  }

  private static let nonFinite: [Float] = [.nan, .infinity, -.infinity]

  private func read(_ source: any FrameSource) throws(FileFailure) -> [Float] {
    var buffer = SampleBuffer(frameCount: 1000, channelCount: 1)
    var samples: [Float] = []
    while true {
      let count = try source.read(into: &buffer, frames: 1000)
      if count == 0 { return samples }
      for frame in 0..<count { samples.append(buffer[frame]) }
    }
  }

  private func track(
    _ values: [Float], speed: Double, channels: Int = 1, rate: Int = 48000
  ) throws(FileFailure) -> TrackReader {
    var settings = TrackSettings()
    settings.speed = speed
    return try TrackReader(
      Broken(values), sampleRate: rate, channelCount: channels, settings: settings)
  }

  @Test(arguments: [1, 0.5, 1.25])
  func `samples that are not finite reach a converter as silence, and are counted`(speed: Double)
    throws
  {
    let track = try track(Self.nonFinite, speed: speed)
    let heard = try read(track)
    let expected = try read(try self.track([0, 0, 0], speed: speed))
    #expect(heard.count > 10000 && heard == expected)
    #expect(track.nonFiniteCount == 3)
  }

  @Test func `samples that are not finite become silence without conversion as well`() throws {
    let track = try track(Self.nonFinite, speed: 1, rate: 44100)
    let heard = try read(track)
    let expected = try read(try self.track([0, 0, 0], speed: 1, rate: 44100))
    #expect(heard.count == 20000 && heard == expected)
    #expect(track.nonFiniteCount == 3)
  }

  @Test(arguments: 1...3)
  func `each sample of a range that is not finite becomes silence, and no other changes`(
    channels: Int
  ) {
    for (first, frames) in [(0, 100), (7, 61), (33, 0), (50, 50), (3, 31)] {
      for place in 0..<100 * channels {
        var buffer = SampleBuffer(frameCount: 100, channelCount: channels)
        // Values whose exponents together have every bit set.
        for index in 0..<buffer.sampleCount { buffer[index] = index % 3 == 0 ? 1.5 : -3 }
        buffer[place] = Self.nonFinite[place % 3]
        let range = first * channels..<(first + frames) * channels
        let count = buffer.silenceNonFinite(from: first, frames: frames)
        #expect(count == (range.contains(place) ? 1 : 0))
        let isRight = (0..<buffer.sampleCount).allSatisfy { index in
          let sample: Float = index % 3 == 0 ? 1.5 : -3
          return index == place
            ? buffer[index].isFinite == range.contains(place) : buffer[index] == sample
        }
        #expect(isRight)
      }
    }
  }

  @Test func `mixes and sequences count those of all sources, including finished ones`() throws {
    let mix = TrackMix(
      [try track(Self.nonFinite, speed: 1), try track(Self.nonFinite, speed: 1)], channelCount: 1)
    let sequence = SourceSequence([SilentSource(frameCount: 100), mix, SilentSource(frameCount: 1)])
    let heard = try read(sequence)
    #expect(heard.allSatisfy(\.isFinite) && sequence.nonFiniteCount == 6)
  }

  /// Returns the report of a session with `background` on a simulated device.
  private func report(
    _ player: consuming PlayerStage, _ background: [any BackgroundWork],
    _ device: consuming SimulatedDevice, limiter: consuming Limiter? = nil
  ) throws -> SessionReport {
    let configuration = device.configuration
    var mixer = Mixer(configuration)
    mixer.protection = MonitorProtection(
      sampleRate: 48000, dimRequest: PublishedFlag().makeView(), limiter: limiter)
    mixer.player = consume player
    mixer.endsWithPlayer = true
    let runner = SessionRunner(
      device: device, callbacks: mixer, background: background, meter: nil, frameLimit: 100_000)
    return try runner.run(clock: .virtual) { _, _ in .proceed }
  }

  private func device() throws -> SimulatedDevice {
    var request = DuplexRequest(captureDevice: nil, playbackDevice: "sim")
    request.sampleRate = 48000
    request.periodFrames = 64
    return try SimulatedDevice(
      SimulatedDeviceSpecification(parsing: "sim:clock=free"), request: request)
  }

  @Test func `a session reports the NaN samples of a player's queue`() throws {
    let device = try device()
    let channels = device.configuration.playback?.channelCount ?? 1
    let player = AudioPlayer(endsWithQueue: true)
    player.enqueue(Broken(Self.nonFinite))
    player.play()
    let stage = try player.attach(to: device.configuration)
    let report = try report(stage, player.background, device)
    #expect(report.nanCount == 3 * channels && report.frames > 20000)
  }

  /// A tap that makes one sample of the frame 4800 infinite.
  final class Breaking: PlayerTap {
    func process(_ buffer: inout SampleBuffer, frames: Int, at frame: Int) {
      guard (frame..<frame + frames).contains(4800) else { return }
      buffer[(4800 - frame) * buffer.channelCount] = .infinity
    }
  }

  @Test func `a sample that the limiter replaced by silence is reported once`() throws {
    let device = try device()
    let player = AudioPlayer(endsWithQueue: true)
    player.enqueue(Broken([0, 0, 0]))
    player.tap = Breaking()
    player.play()
    let stage = try player.attach(to: device.configuration)
    let limiter = Limiter(limit: 0.9, sampleRate: 48000)
    let report = try report(stage, player.background, device, limiter: limiter)
    #expect(report.nanCount == 1 && report.frames > 20000)
  }

  @Test func `a session reports the NaN samples of a source`() throws {
    let device = try device()
    let channels = device.configuration.playback?.channelCount ?? 1
    let ring = SampleWriter(frameCount: 48000, channelCount: channels)
    let stage = PlayerStage(ring: ring.makeReader(), channelCount: channels, periodFrames: 64)
    let feeder = PlayFeeder(
      ring: ring, source: try track(Self.nonFinite, speed: 1, channels: channels),
      channelCount: channels)
    let report = try report(stage, [feeder], device)
    #expect(report.nanCount == 3 * channels && report.frames > 20000)
  }
}

import AudioBasics
import AudioDevices
import AudioFiles
import Glibc
import RealtimeAudio
import SimulatedDevices
import TemporaryFolders
import Testing

@testable import AudioSessions

/// Tests of one player in many sessions on units with different rates, channel counts and periods.
@Suite struct PlayerSessionsTests {
  /// The number of frames of the fade-in at the start of a later session.
  private static let fade = 240

  @Test func `a player continues with the next frame in the next session`() throws {
    let rig = try PlayerRig(endsWithQueue: false)
    let first = try CountedFile(frames: 20000)
    let second = try CountedFile(frames: 20000, first: 20000)
    rig.enqueue(first)
    rig.enqueue(second)
    rig.player.play()
    #expect(difference(numbers(rig.run(cycles: 100)), 0..<6400) == nil)
    rig.conclude()
    #expect(rig.player.position == 6400)
    #expect(rig.player.current?.info.name == first.path)
    try rig.attach(periodFrames: 128)
    #expect(rig.player.position == 6400)
    #expect(rig.player.isPlaying || rig.player.state == .waiting)
    let heard = numbers(rig.run(cycles: 300))
    #expect(difference(heard[Self.fade..<33600], 6400 + Self.fade..<40000) == nil)
    #expect(heard[33600...].allSatisfy { $0 == -1 })
    rig.conclude()
    #expect(rig.player.playedTracks.map(\.frames) == [6400, 13600, 20000])
    #expect(
      rig.player.playedTracks.map(\.track.info.name) == [first.path, first.path, second.path])
  }

  @Test(arguments: [(44100, 2, 64), (96000, 2, 256), (48000, 1, 64), (48000, 6, 32)])
  func `another rate, channel count or period changes the position by at most one frame`(
    rate: Int, channels: Int, period: Int
  ) throws {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 96000))
    rig.player.play()
    _ = rig.run(cycles: 500)
    rig.conclude()
    try rig.attach(sampleRate: rate, channelCount: channels, periodFrames: period)
    #expect(rig.player.shape?.sampleRate == rate)
    #expect(rig.player.position == 32000)
    let cycles = rate / 2 / period
    let heard = rig.run(cycles: cycles)
    let frames = cycles * period
    let place = 32000 + Double(frames) * 48000 / Double(rate)
    #expect(abs(Double(rig.player.position ?? 0) - place) <= 1)
    if rate == 48000, channels > 1 {
      #expect(
        difference(numbers(Array(heard[Self.fade...])), (32000 + Self.fade)..<(32000 + frames))
          == nil)
    } else {
      // A ramp remains a ramp at any rate; one channel is the sum of two that cancel each other
      // out.
      let scale = channels == 1 ? 0.0 : 1.0
      let last = Double(heard[frames - 1]) * 8_388_608 - 1
      #expect(abs(last - (place - 1) * scale) < 2)
    }
  }

  @Test func `settings, gain, pause, and requests between two sessions are kept`() throws {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 20000))
    rig.player.gain = Gain(factor: 0.5)
    rig.player.setRegion(1000..<3000, times: 3)
    rig.player.play()
    _ = rig.run(cycles: 50)
    rig.player.pause()
    _ = rig.run(cycles: 20)
    let place = try #require(rig.player.position)
    rig.conclude()
    try rig.attach()
    #expect(rig.player.state == .paused)
    #expect(rig.run(cycles: 10).allSatisfy { $0 == 0 })
    #expect(rig.player.position == place)
    #expect(rig.player.settings?.range.times == 2)
    #expect(rig.player.gain.factor == 0.5)
    rig.conclude()
    try rig.player.seek(toFrame: 2000)
    rig.player.gain = .unity
    rig.player.play()
    try rig.attach()
    let heard = numbers(rig.run(cycles: 60))
    #expect(difference(heard[Self.fade..<1000], 2000 + Self.fade..<3000) == nil)
    #expect(difference(heard[1000..<3000], 1000..<3000) == nil)
    #expect(heard[3000] == -1)
  }

  @Test func `short sources that were read ahead are played in the next session`() throws {
    let rig = try PlayerRig()
    let files = try (0..<200).map { try CountedFile(frames: 300, first: $0 * 300) }
    for file in files { rig.enqueue(file) }
    rig.player.play()
    #expect(difference(numbers(rig.run(cycles: 100)), 0..<6400) == nil)
    rig.conclude()
    try rig.attach(periodFrames: 32)
    let heard = numbers(rig.run(cycles: 1700))
    #expect(difference(heard[Self.fade..<53600], 6400 + Self.fade..<60000) == nil)
    #expect(heard[53600] == -1)
    #expect(rig.isFinished)
  }

  @Test(arguments: [true, false])
  func `a decoder of the program continues, with and without seeking`(seeks: Bool) throws {
    let rig = try PlayerRig()
    rig.player.enqueue(PlayerEventTests.Ramp(frames: 60000, supportsSeeking: seeks))
    rig.player.enqueue(PlayerEventTests.Ramp(frames: 60000, supportsSeeking: seeks))
    rig.player.play()
    for session in 0..<8 {
      let heard = numbers(rig.run(cycles: 250))
      let start = session * 16000 % 60000
      let rest = min(16000, 60000 - start)
      #expect(
        difference(heard[Self.fade..<rest], start + Self.fade..<start + rest) == nil,
        "session \(session)")
      rig.conclude()
      try rig.attach()
      if session == 6 { break }
    }
  }

  /// A source without seeking can restart from its beginning in the first eight seconds; later it
  /// can only continue.
  @Test(arguments: [250, 7000], [true, false])
  func `simultaneous sources continue in step if one of them cannot seek`(
    cycles: Int, isFirst: Bool
  ) throws {
    let rig = try PlayerRig()
    var twice = TrackSettings()
    twice.gain = Gain(factor: 2)
    rig.player.enqueue(
      QueueItem([
        .once(
          PlayerEventTests.Ramp(frames: 1_500_000, supportsSeeking: isFirst),
          settings: TrackSettings()),
        .once(PlayerEventTests.Ramp(frames: 1_500_000, supportsSeeking: !isFirst), settings: twice),
      ]))
    rig.player.play()
    for _ in 0..<2 {
      // The sum of a frame number of one source and twice that of the other.
      let last = (numbers(rig.run(cycles: cycles)).last ?? 0) + 1
      #expect(last % 3 == 0)
      rig.conclude()
      try rig.attach()
      let sums = numbers(rig.run(cycles: 20)).dropFirst(Self.fade).map { $0 + 1 }
      let first = try #require(sums.first)
      #expect(first % 3 == 0 && first > last && first < last + 3 * 96000)
      #expect(zip(sums, sums.dropFirst()).allSatisfy { $1 - $0 == 3 })
    }
  }

  @Test func `a finished queue is not played again, and later items are`() throws {
    let rig = try PlayerRig(endsWithQueue: false)
    rig.enqueue(try CountedFile(frames: 640))
    rig.player.play()
    _ = rig.run(cycles: 20)
    rig.conclude()
    #expect(rig.player.state == .idle)
    try rig.attach()
    #expect(rig.run(cycles: 10).allSatisfy { $0 == 0 })
    rig.enqueue(try CountedFile(frames: 640))
    #expect(numbers(rig.run(cycles: 12)).contains(639))
  }

  @Test func `a source skipped at the end of a session is not played in the next`() throws {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 48000))
    rig.enqueue(try CountedFile(frames: 48000, first: 100_000))
    rig.player.play()
    _ = rig.run(cycles: 10)
    rig.player.cancelCurrent()
    rig.step()
    rig.conclude()
    try rig.attach()
    let heard = numbers(rig.run(cycles: 10))
    #expect(difference(heard[Self.fade...], 100_000 + Self.fade..<100_640) == nil)
  }

  @Test func `a player cannot be attached while its session runs, and can afterwards`() throws {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 48000))
    rig.player.play()
    // No cycle has run yet, so the player may be attached again, as after a wrong choice of unit.
    try rig.attach(sampleRate: 44100)
    try rig.attach()
    #expect(difference(numbers(rig.run(cycles: 10)), 0..<640) == nil)
    let refusal = #expect(throws: DeviceFailure.self) { try rig.attach() }
    #expect(refusal?.kind == .busy)
    #expect(difference(numbers(rig.run(cycles: 10)), 640..<1280) == nil)
    rig.player.detach()
    try rig.attach()
    #expect(difference(numbers(rig.run(cycles: 10))[Self.fade...], 1280 + Self.fade..<1920) == nil)
  }

  @Test func `a player cannot be attached to an impossible unit`() throws {
    let player = AudioPlayer()
    for shape in [(0, 2, 64), (48000, 0, 64), (48000, 2, 0)] {
      let refusal = #expect(throws: DeviceFailure.self) {
        _ = try player.attach(
          to: AudioPlayer.Shape(
            sampleRate: shape.0, channelCount: shape.1, periodFrames: shape.2))
      }
      #expect(refusal?.kind == .invalidRequest)
    }
  }

  /// Returns a device in virtual time.
  private func device(
    rate: Int = 48000, channels: Int = 2, period: Int = 256
  ) throws -> SimulatedDevice {
    let name = "sim:clock=free,rate=\(rate),channels=\(channels)"
    var request = DuplexRequest(captureDevice: nil, playbackDevice: name)
    request.periodFrames = period
    return try SimulatedDevice(SimulatedDeviceSpecification(parsing: name), request: request)
  }

  @Test(arguments: [(44100, 2, 256), (48000, 1, 256), (48000, 2, 128)])
  func `a player for another unit than the running one is refused`(
    rate: Int, channels: Int, period: Int
  ) throws {
    let device = try device()
    let player = AudioPlayer(endsWithQueue: true)
    var mixer = Mixer(device.configuration)
    mixer.player = try player.attach(
      to: AudioPlayer.Shape(sampleRate: rate, channelCount: channels, periodFrames: period))
    let runner = SessionRunner(
      device: device, callbacks: mixer, background: player.background, meter: nil, frameLimit: 4800)
    do throws(DeviceFailure) {
      _ = try runner.run(clock: .virtual) { _, _ in .proceed }
      Issue.record("It was played.")
    } catch {
      #expect(error.kind == .invalidRequest)
      #expect(error.message.contains("\(rate) Hz"))
    }
  }

  @Test(arguments: [0, 0.001, 0.01])
  func `at the end of the player the frames held by a look-ahead limiter are played`(
    seconds: Double
  )
    throws
  {
    let file = try CountedFile(frames: 1000)
    let device = try device(rate: 48000, channels: 2, period: 64)
    let player = AudioPlayer(endsWithQueue: true)
    player.enqueue(path: file.path)
    player.play()
    let folder = TemporaryFolder()
    let path = folder("heard.wav")
    let writer = try RecordingWriter(
      RecordingPlan(
        path: path, fileFormat: .wav, sampleFormat: .float, sampleRate: 48000, channelCount: 2),
      ringFrames: 48000)
    var mixer = Mixer(device.configuration)
    mixer.player = try player.attach(to: device.configuration)
    mixer.outputRecorder = writer.takeRecorder()
    var limiter = Limiter(limit: 0.9, sampleRate: 48000)
    if seconds > 0 {
      limiter = Limiter(
        limit: 0.9, sampleRate: 48000, channelCount: 2, lookAheadSeconds: seconds)
    }
    let delay = limiter.delayFrames
    mixer.protection = MonitorProtection(
      sampleRate: 48000, dimRequest: PublishedFlag().makeView(), limiter: limiter)
    mixer.endsWithPlayer = true
    let runner = SessionRunner(
      device: device, callbacks: mixer, background: player.background + [writer], meter: nil,
      frameLimit: 48000)
    let report = try runner.run(clock: .virtual) { _, _ in .proceed }
    #expect(report.frames == 1000 + delay)
    var reader = try SoundFileReader(path: path)
    var heard = SampleBuffer(frameCount: 2000, channelCount: 2)
    let count = try reader.read(into: &heard)
    // A recorder receives whole cycles.
    #expect(count >= 1000 + delay)
    let wrong = (0..<1000).filter {
      heard[2 * ($0 + delay)] != Float($0 + 1) / 8_388_608
    }
    #expect(wrong.isEmpty)
  }

  @Test func `one player plays on twelve devices in succession`() throws {
    let player = AudioPlayer()
    let file = try CountedFile(frames: 480_000)
    player.enqueue(path: file.path)
    player.play()
    var expected = 0.0
    for session in 0..<12 {
      let rate = [48000, 44100, 96000][session % 3]
      let device = try device(rate: rate, channels: 1 + session % 2, period: 64 << (session % 4))
      var mixer = Mixer(device.configuration)
      mixer.player = try player.attach(to: device.configuration)
      let runner = SessionRunner(
        device: device, callbacks: mixer, background: player.background, meter: nil,
        frameLimit: 2048)
      let report = try runner.run(clock: .virtual) { _, _ in .proceed }
      expected += Double(report.frames) * 48000 / Double(rate)
      #expect(abs(Double(player.position ?? 0) - expected) < 2)
    }
    #expect(player.playedTracks.count == 12)
    #expect(Set(player.playedTracks.map(\.track.number)).count == 12)
  }
}

import AudioBasics
import AudioFiles
import AudioSessions
import Testing

/// Tests of all parts of the player's interface.
@Suite struct AudioPlayerTests {
  private static let lead = 48000 / 50 + 2 * 64

  /// Returns a rig that plays `files`.
  private func rig(_ files: Files, endsWithQueue: Bool = true) throws -> PlayerRig {
    let rig = try PlayerRig(endsWithQueue: endsWithQueue)
    for file in [files.first, files.second] { rig.enqueue(file) }
    return rig
  }

  /// Two files of numbered frames; the numbers of the second file continue those of the first.
  struct Files {
    let first: CountedFile
    let second: CountedFile

    init(_ one: Int = 6400, _ two: Int = 6400) throws {
      first = try CountedFile(frames: one)
      second = try CountedFile(frames: two, first: one)
    }
  }

  @Test func `queued files are played in order and without a gap, and then the player is finished`()
    throws
  {
    let rig = try rig(Files(1000, 700))
    rig.player.play()
    let heard = numbers(rig.run(cycles: 40))
    #expect(difference(heard.prefix(1700), 0..<1700) == nil)
    #expect(heard.dropFirst(1700).allSatisfy { $0 == -1 })
    #expect(rig.isFinished)
  }

  @Test func `a paused player fades out within 5 ms and resumes at its position`() throws {
    let rig = try rig(Files())
    #expect(rig.player.state == .paused)
    #expect(rig.run(cycles: 3).allSatisfy { $0 == 0 })
    rig.player.togglePlayPause()
    #expect(difference(numbers(rig.run(cycles: 4)), 0..<256) == nil)
    #expect(rig.player.isPlaying)
    rig.player.pause()
    let fading = rig.run(cycles: 10)
    // A fade-out of 240 frames: each frame is attenuated more than the one before.
    let errors = (0..<240).map { frame -> Float in
      let full = Float(257 + frame) / 8_388_608
      let gain = Float(240 - frame) / 240
      return abs(fading[frame] - full * gain)
    }
    #expect((errors.max() ?? 1) < 1e-6)
    #expect(fading[240...].allSatisfy { $0 == 0 })
    #expect(rig.player.state == .paused)
    #expect(rig.player.position == 496)
    rig.player.play()
    let rising = rig.run(cycles: 10)
    #expect(difference(numbers(Array(rising[240...])), 496 + 240..<496 + 640) == nil)
  }

  @Test func `seeks by frame, time, fraction and distance`() throws {
    let file = try CountedFile(frames: 96000)
    func place(_ seek: (AudioPlayer) throws -> Void) throws -> Int {
      let rig = try PlayerRig()
      rig.enqueue(file)
      rig.player.play()
      _ = rig.run(cycles: 2)
      try seek(rig.player)
      let heard = numbers(rig.run(cycles: 30))
      // The queued frames are played first.
      #expect(difference(heard.prefix(Self.lead), 128..<128 + Self.lead) == nil)
      return heard[Self.lead]
    }
    #expect(try place { try $0.seek(toFrame: 777) } == 777)
    #expect(try place { try $0.seek(toSeconds: 1.5) } == 72000)
    #expect(try place { try $0.seek(toFraction: 0.25) } == 24000)
    #expect(try place { try $0.seek(bySeconds: 1) } == 128 + Self.lead + 48000)
    #expect(try place { try $0.seek(bySeconds: -1) } == 0)
    #expect(try place { try $0.seek(bySeconds: 100) } == 95999)
  }

  @Test func `seeks by distance in quick succession are all executed`() throws {
    let file = try CountedFile(frames: 96000)
    let rig = try PlayerRig()
    rig.enqueue(file)
    rig.player.play()
    _ = rig.run(cycles: 2)
    for _ in 0..<20 { try rig.player.seek(bySeconds: 0.05) }
    // The first twenty seeks are in progress but not yet audible when the others are requested.
    rig.step()
    for _ in 0..<10 { try rig.player.seek(bySeconds: 0.05) }
    let heard = numbers(rig.run(cycles: 30))
    #expect(heard[Self.lead - 1] == 128 + Self.lead - 1)
    #expect(heard[Self.lead] == 128 + Self.lead + 30 * 2400)
  }

  @Test func `seeks by distance stay in the region that is played`() throws {
    let file = try CountedFile(frames: 96000)
    let rig = try PlayerRig()
    var settings = TrackSettings()
    settings.range = PlaybackRange(startFrame: 10000, endFrame: 30000, times: 2)
    rig.enqueue(file, settings: settings)
    rig.player.play()
    _ = rig.run(cycles: 2)
    try rig.player.seek(bySeconds: -5)
    var heard = numbers(rig.run(cycles: 30))
    #expect(heard[Self.lead] == 10000)
    try rig.player.seek(bySeconds: 5)
    heard = numbers(rig.run(cycles: 400))
    // The last frame of this pass is followed by the second pass and then by silence.
    #expect(heard[Self.lead] == 29999)
    #expect(heard[Self.lead + 1] == 10000)
    #expect(heard[Self.lead + 20000] == 29999)
    #expect(heard[Self.lead + 20001] == -1)
  }

  @Test func `a seek before playback, or in a pause, takes effect from the first frame on`()
    throws
  {
    let rig = try rig(Files())
    try rig.player.seek(toFrame: 500)
    rig.player.play()
    #expect(difference(numbers(rig.run(cycles: 2)), 500..<628) == nil)
    rig.player.pause()
    _ = rig.run(cycles: 10)
    try rig.player.seek(toFrame: 3000)
    _ = rig.run(cycles: 2)
    #expect(rig.player.position == 3000)
    #expect(rig.player.time?.current == 3000.0 / 48000)
    rig.player.play()
    #expect(difference(numbers(Array(rig.run(cycles: 6)[240...])), 3240..<3384) == nil)
  }

  @Test func `tracks can be skipped forwards and backwards, and the queue cleared and reset`()
    throws
  {
    let files = try Files(96000, 96000)
    let rig = try rig(files)
    rig.player.play()
    _ = rig.run(cycles: 2)
    #expect(rig.player.current?.index == 0)
    #expect(!rig.player.isQueueEmpty)
    rig.player.cancelCurrent()
    #expect(difference(numbers(rig.run(cycles: 30))[Self.lead...], 96000..<96500) == nil)
    #expect(rig.player.current?.index == 1)
    #expect(rig.player.isQueueEmpty)
    rig.player.skip(by: -1)
    #expect(difference(numbers(rig.run(cycles: 30))[Self.lead...], 0..<500) == nil)
    #expect(!rig.player.isQueueEmpty)
    #expect(rig.player.dequeue()?.name == files.second.path)
    #expect(rig.player.dequeue() == nil)
    rig.player.resetAndEnqueue(QueueItem(.file(files.second.path)))
    #expect(difference(numbers(rig.run(cycles: 30))[Self.lead...], 96000..<96500) == nil)
    rig.player.clearQueue()
    rig.player.stop()
    _ = rig.run(cycles: 2)
    #expect(rig.player.state == .idle)
    #expect(rig.player.current == nil)
  }

  @Test func `the last of several quick resets takes effect`() throws {
    let files = try (0..<4).map { try CountedFile(frames: 200_000, first: $0 * 200_000) }
    let rig = try PlayerRig(endsWithQueue: false)
    rig.player.play()
    _ = rig.run(cycles: 10)
    // On a player that runs with an empty queue.
    rig.player.resetAndEnqueue(path: files[0].path)
    #expect(difference(numbers(rig.run(cycles: 30)).filter { $0 >= 0 }, 0..<1000) == nil)
    for file in files[1...] { rig.player.resetAndEnqueue(path: file.path) }
    let heard = numbers(Array(rig.run(cycles: 60)[Self.lead...]))
    #expect(heard.last.map { (600_000..<610_000).contains($0) } == true)
    rig.player.reset()
    _ = rig.run(cycles: 30)
    #expect(rig.player.current == nil)
  }

  @Test func `quick skips are all executed`() throws {
    let files = try (0..<6).map { try CountedFile(frames: 200_000, first: $0 * 200_000) }
    let rig = try PlayerRig()
    for file in files { rig.enqueue(file) }
    rig.player.play()
    func index(after skips: () -> Void) -> Int? {
      skips()
      _ = rig.run(cycles: 30)
      return rig.player.current?.index
    }
    #expect(index { rig.player.skip(by: 0) } == 0)
    #expect(index { for _ in 0..<5 { rig.player.skip(by: 1) } } == 5)
    #expect(index { for _ in 0..<3 { rig.player.skipBack() } } == 2)
    // After the first two seconds of a source, a skip back first returns to its start.
    _ = rig.run(cycles: 2000)
    #expect(index { rig.player.skipBack() } == 2)
    #expect(rig.player.time.map { $0.current < 1 } == true)
    _ = rig.run(cycles: 2000)
    #expect(index { for _ in 0..<2 { rig.player.skipBack() } } == 1)
    #expect(index { for _ in 0..<9 { rig.player.skipBack() } } == 0)
    #expect(
      index {
        rig.player.skip(by: 9); rig.player.skipBack()
      } == 5)
  }

  /// A source whose opening removes it from the queue and, if `fails`, throws.
  @Test(arguments: [false, true])
  func `an item removed from the queue while it is opened is not played`(
    fails: Bool
  ) throws {
    let rig = try PlayerRig()
    let gone = try CountedFile(frames: 500, first: 5000)
    let follows = try CountedFile(frames: 700)
    rig.player.enqueue(
      QueueItem(
        QueueItem.Part(
          name: "gone",
          open: {
            [player = rig.player, next = follows.path, path = gone.path] _ throws(FileFailure) in
            player.clearQueue()
            player.enqueue(path: next)
            return try Decoding.decoder(forPath: fails ? "/nonexistent.wav" : path)
          })))
    rig.player.play()
    let heard = numbers(rig.run(cycles: 30)).drop { $0 == -1 }
    #expect(difference(heard.prefix(700), 0..<700) == nil)
    #expect(heard.dropFirst(700).allSatisfy { $0 == -1 })
    #expect(rig.isFinished)
    let failed = rig.events.filter { if case .failed = $0.kind { true } else { false } }
    #expect(failed.isEmpty)
  }

  @Test func `a player that does not end with its queue plays later items at once`() throws {
    let files = try Files(640, 6400)
    let rig = try PlayerRig(endsWithQueue: false)
    rig.player.play()
    #expect(rig.player.state == .idle)
    _ = rig.run(cycles: 5)
    rig.enqueue(files.first)
    #expect(difference(numbers(rig.run(cycles: 12)).prefix(640), 0..<640) == nil)
    #expect(!rig.isFinished)
    #expect(rig.player.state == .idle)
    rig.enqueue(files.second)
    #expect(difference(numbers(rig.run(cycles: 3)), 640..<640 + 192) == nil)
    #expect(rig.player.isReady)
    #expect(rig.player.starvedFrameCount == 0)
  }

  @Test func `a change of gain is a ramp of 5 ms`() throws {
    let rig = try rig(Files())
    rig.player.play()
    _ = rig.run(cycles: 1)
    rig.player.gain = Gain(factor: 0.5)
    let heard = rig.run(cycles: 8)
    let errors = heard.indices.map { frame -> Float in
      let full = Float(65 + frame) / 8_388_608
      let gain = max(0.5, 1 - Float(frame) / 480)
      return abs(heard[frame] - full * gain)
    }
    #expect((errors.max() ?? 1) < 1e-6)
  }

  @Test func `alternatives are in step: a change is heard from the next frame on`() throws {
    let one = try CountedFile(frames: 48000)
    let two = try CountedFile(frames: 48000, first: 1_000_000)
    let rig = try PlayerRig()
    rig.player.enqueue(
      QueueItem([.file(one.path), .file(two.path)], mixMode: .alternatives(0)))
    rig.player.play()
    _ = rig.run(cycles: 2)
    rig.player.choose(1)
    var heard = numbers(rig.run(cycles: 30))
    let place = 128 + Self.lead
    #expect(heard[Self.lead - 1] == place - 1)
    #expect(heard[Self.lead] == 1_000_000 + place)
    // Switches back at a chosen frame.
    rig.player.choose(0, atFrame: 20000)
    heard = numbers(rig.run(cycles: 300))
    let change = 20000 - (128 + 30 * 64)
    #expect(heard[change - 1] == 1_000_000 + 19999)
    #expect(heard[change] == 20000)
  }

  @Test func `each of several simultaneous sources has its own gain and pan`() throws {
    let one = try CountedFile(frames: 640)
    let rig = try PlayerRig()
    var left = TrackSettings(gain: Gain(factor: 0.5))
    left.pan = -1
    var right = TrackSettings()
    right.pan = 1
    rig.player.enqueue(
      QueueItem([.file(one.path, settings: left), .file(one.path, settings: right)]))
    rig.player.play()
    // The first channel is the left one: it contains half of the first source and nothing of the
    // second.
    let heard = rig.run(cycles: 1)
    for frame in 0..<64 { #expect(heard[frame] == Float(frame + 1) / 8_388_608 / 2) }
  }

  @Test(arguments: [false, true])
  func `simultaneous sources stay in step if one of them cannot seek`(
    isSeekableFirst: Bool
  ) throws {
    let file = try CountedFile(frames: 96000)
    let parts: [QueueItem.Part] = [
      QueueItem.Part(name: "one way") { _ in
        PlayerEventTests.Ramp(frames: 96000, supportsSeeking: false)
      },
      .file(file.path),
    ]
    let rig = try PlayerRig()
    rig.player.enqueue(QueueItem(isSeekableFirst ? parts.reversed() : parts))
    rig.player.play()
    _ = rig.run(cycles: 2)
    try? rig.player.seek(toFrame: 20000)
    // Longer than the frames read ahead.
    let heard = numbers(rig.run(cycles: 1200))
    #expect(difference(heard, (128..<128 + 1200 * 64).map { 2 * $0 + 1 }) == nil)
    #expect(rig.events.contains { if case .refused = $0.kind { true } else { false } })
  }

  @Test func `formats, bit rate, and support of seeking are reported`() throws {
    #expect(AudioPlayer.supports(format: "flac"))
    #expect(AudioPlayer.supports(format: "audio/mpeg"))
    #expect(!AudioPlayer.supports(format: "text/html"))
    let rig = try rig(Files())
    rig.player.play()
    _ = rig.run(cycles: 1)
    #expect(rig.player.supportsSeeking)
    // 24 bits, two channels, 48 kHz, and the header.
    #expect((rig.player.bitRate ?? 0) >= 2_304_000)
    #expect(rig.player.settings?.speed == 1)
  }
}

import AudioBasics
import AudioFiles
import AudioSessions
import Testing

/// Tests of a player's events.
@Suite struct PlayerEventTests {
  private func names(_ events: [PlayerEvent]) -> [String] {
    events.map { event in
      let name =
        switch event.kind {
        case .decodingStarted: "decoding"
        case .decodingComplete: "decoded"
        case .decodingCanceled: "canceled"
        case .renderingWillStart: "will start"
        case .renderingStarted: "started"
        case .renderingComplete: "complete"
        case .endingSoon: "soon"
        case .endOfAudio: "end"
        case .failed: "failed"
        case .refused: "refused"
        case .titled: "titled"
        case .waiting: "waiting"
        case .resumed: "resumed"
        }
      return "\(event.index) \(name)" + (event.frame.map { " \($0)" } ?? "")
    }
  }

  @Test func `every turn is reported with its first and last frame on the timeline`() throws {
    let one = try CountedFile(frames: 30000)
    let two = try CountedFile(frames: 40000)
    let rig = try PlayerRig()
    rig.enqueue(one)
    rig.enqueue(two)
    // Ten cycles of silence come first.
    _ = rig.run(cycles: 10)
    rig.player.play()
    _ = rig.run(cycles: 1200)
    rig.conclude()
    let reported = names(rig.events)
    #expect(
      reported.filter { $0.hasPrefix("0") }.suffix(2) == ["0 started 640", "0 complete 30640"])
    #expect(reported.first == "0 decoding")
    #expect(reported.contains("1 will start 30640"))
    #expect(
      reported.suffix(3) == ["1 started 30640", "1 complete 70640", "1 end 70640"]
        || reported.suffix(2) == ["1 complete 70640", "1 end 70640"])
    let heard = rig.player.playedTracks
    #expect(heard.map(\.startFrame) == [640, 30640])
    #expect(heard.map(\.frames) == [30000, 40000])
  }

  @Test func `a canceled turn is reported with the number of frames played`() throws {
    let one = try CountedFile(frames: 96000)
    let rig = try PlayerRig()
    rig.enqueue(one)
    rig.player.play()
    _ = rig.run(cycles: 10)
    try rig.player.seek(toFrame: 50000)
    _ = rig.run(cycles: 100)
    rig.player.stop()
    _ = rig.run(cycles: 4)
    rig.conclude()
    let reported = names(rig.events)
    #expect(reported.contains("0 started 0"))
    #expect(reported.contains { $0.hasPrefix("0 canceled") })
    #expect(!reported.contains { $0.hasPrefix("0 complete") })
    #expect(rig.player.playedTracks.map(\.frames) == [110 * 64])
  }

  @Test func `the last 4096 turns of a repeating queue are stored`() throws {
    let files = [try CountedFile(frames: 64), try CountedFile(frames: 96)]
    let rig = try PlayerRig()
    for file in files { rig.enqueue(file) }
    rig.player.isRepeating = true
    rig.player.play()
    _ = rig.run(cycles: 10)
    #expect(rig.player.playedTracks.first?.startFrame == 0)
    while (rig.player.playedTracks.last?.track.number ?? 0) < 4200 { _ = rig.run(cycles: 500) }
    let heard = rig.player.playedTracks
    #expect(heard.count == 4096)
    for (played, next) in zip(heard, heard.dropFirst()) {
      #expect(next.track.number == played.track.number + 1)
      #expect(next.startFrame == played.startFrame + played.frames)
    }
    for played in heard {
      let file = files[played.track.number % 2]
      #expect(played.track.index == played.track.number % 2)
      #expect(played.track.info.name == file.path && played.frames == file.frames)
    }
  }

  @Test func `a coming end is reported once, with the requested lead`() throws {
    let one = try CountedFile(frames: 96000)
    let rig = try PlayerRig()
    rig.player.endingSoonLeadSeconds = 0.5
    rig.enqueue(one)
    rig.player.play()
    var when: [Int] = []
    for _ in 0..<1510 {
      _ = rig.cycle()
      if names(rig.events).contains(where: { $0.hasPrefix("0 soon") }) { when.append(rig.frame) }
    }
    #expect(when.count == 1)
    #expect(abs((when.first ?? 0) - 72000) <= 2 * 64)
  }

  @Test func `a source that cannot be opened fails, and the next one plays`() throws {
    let one = try CountedFile(frames: 640)
    let rig = try PlayerRig()
    rig.player.enqueue(path: "/nowhere/at/all.wav")
    rig.enqueue(one)
    rig.player.play()
    #expect(difference(numbers(rig.run(cycles: 10)), 0..<640) == nil)
    _ = rig.run(cycles: 2)
    rig.conclude()
    let events = rig.events
    let failures = events.compactMap { event in
      if case .failed(let failure) = event.kind { return failure.kind }
      return nil
    }
    #expect(failures == [.cannotOpen])
    #expect(names(events).contains("1 complete 640"))
  }

  @Test func `a seek that a source does not support is refused, and playback continues`() throws {
    let rig = try PlayerRig()
    rig.player.enqueue(Ramp(frames: 96000, supportsSeeking: false))
    rig.player.play()
    _ = rig.run(cycles: 2)
    #expect(throws: SeekFailure.notSeekable(name: "a ramp")) {
      try rig.player.seek(toFrame: 5000)
    }
    let heard = numbers(rig.run(cycles: 30))
    #expect(difference(heard, 128..<128 + 30 * 64) == nil)
    #expect(names(rig.events).contains("0 refused"))
  }

  @Test func `a decoder of the program is played like a file`() throws {
    let rig = try PlayerRig()
    rig.player.enqueue(Ramp(frames: 3200, supportsSeeking: true))
    rig.player.play()
    rig.player.toggleReversed()
    try rig.player.seek(toFrame: 1000)
    #expect(difference(numbers(rig.run(cycles: 2)), (0..<1000).reversed().prefix(128)) == nil)
  }

  @Test func `the report of a coming end has its frame and time, for each turn`() throws {
    let rig = try PlayerRig()
    rig.player.endingSoonLeadSeconds = 0.5
    rig.enqueue(try CountedFile(frames: 96000))
    rig.enqueue(try CountedFile(frames: 72000))
    _ = rig.run(cycles: 10)
    rig.player.play()
    var reported: [(event: PlayerEvent, at: Int)] = []
    for _ in 0..<2700 {
      _ = rig.cycle()
      for event in rig.events {
        if case .endingSoon = event.kind { reported.append((event, rig.frame)) }
      }
    }
    #expect(reported.map(\.event.index) == [0, 1])
    let frames: [Int?] = [96_640, 168_640]
    #expect(reported.map(\.event.frame) == frames)
    let nanoseconds: [UInt64?] = [2_000_000_000, 3_500_000_000]
    #expect(reported.map(\.event.nanoseconds) == nanoseconds)
    for (event, at) in reported {
      #expect(abs((event.frame ?? 0) - at - 24000) <= 2 * 64)
    }
  }

  @Test func `a source without seeking that was read ahead is complete after a seek before it`()
    throws
  {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 30000))
    rig.player.enqueue(Ramp(frames: 90000, supportsSeeking: false))
    rig.player.play()
    _ = rig.run(cycles: 300)
    // The start of the ramp is in the ring buffer now.
    for place in [1000, 5000] {
      try rig.player.seek(toFrame: place)
      _ = rig.run(cycles: 50)
    }
    var heard: [Int] = []
    while !rig.isFinished, heard.count < 200_000 { heard += numbers(rig.cycle()) }
    let start = heard.firstIndex(of: 29999).map { $0 + 1 } ?? 0
    #expect(difference(heard[start...], 0..<90000) == nil)
    #expect(heard.count >= start + 90000)
    rig.conclude()
    #expect(!names(rig.events).contains { $0.hasPrefix("1 failed") })
  }

  @Test func `each of more than 64 short sources can be sought and continues with the next`()
    throws
  {
    let rig = try PlayerRig()
    for number in 0..<150 { rig.enqueue(try CountedFile(frames: 240, first: 240 * number)) }
    rig.player.play()
    let before = numbers(rig.run(cycles: 10))
    #expect(difference(before, 0..<640) == nil)
    try rig.player.seek(toFrame: 0)
    var heard: [Int] = []
    while !rig.isFinished, heard.count < 100_000 { heard += numbers(rig.cycle()) }
    let place = try #require(heard.indices.dropFirst().first { heard[$0] != heard[$0 - 1] + 1 })
    // The seek takes effect within 60 ms, in the middle of a source.
    #expect(place < 2880 && (640 + place) % 240 != 0)
    #expect(difference(heard[place...], (640 + place) / 240 * 240..<36000) == nil)
    #expect(heard.count >= place + 36000 - (640 + place) / 240 * 240)
    rig.conclude()
    #expect(!names(rig.events).contains { $0.contains("refused") || $0.contains("failed") })
  }

  @Test func `a seek in a source that cannot be opened again is refused`() throws {
    let rig = try PlayerRig()
    for _ in 0..<40 { rig.player.enqueue(Ramp(frames: 240, supportsSeeking: false)) }
    for _ in 0..<100 { rig.enqueue(try CountedFile(frames: 240)) }
    rig.player.play()
    _ = rig.run(cycles: 10)
    try? rig.player.seek(toFrame: 0)
    let heard = numbers(rig.run(cycles: 100))
    #expect(difference(heard, (640..<7040).map { $0 % 240 }) == nil)
    #expect(names(rig.events).contains { $0.hasSuffix("refused") })
  }

  @Test func `a source that fails after a seek back to it is reported`() throws {
    let rig = try PlayerRig()
    rig.player.enqueue(Ramp(frames: 20000, supportsSeeking: true, failsBehindSeek: true))
    rig.enqueue(try CountedFile(frames: 20000))
    rig.player.play()
    _ = rig.run(cycles: 50)
    #expect(names(rig.events).contains { $0.hasPrefix("1 decoding") })
    try rig.player.seek(toFrame: 5000)
    _ = rig.run(cycles: 50)
    #expect(names(rig.events).contains { $0.hasPrefix("0 failed") })
  }

  @Test(arguments: [true, false])
  func `a truncated source is reported after its last frame`(supportsSeeking: Bool) throws {
    let rig = try PlayerRig()
    rig.player.enqueue(
      Ramp(frames: 3200, supportsSeeking: supportsSeeking, announcedFrameCount: 6400))
    rig.player.play()
    let heard = numbers(rig.run(cycles: 60))
    #expect(difference(heard, 0..<3200) == nil)
    rig.conclude()
    #expect(names(rig.events).contains { $0.hasPrefix("0 failed") })
  }

  @Test func `a title is reported when its first frame is played`() throws {
    let rig = try PlayerRig()
    rig.player.enqueue(Ramp(frames: 192_000, supportsSeeking: false, hasTitles: true))
    rig.player.play()
    var reported: [(title: String, frame: Int)] = []
    for _ in 0..<2400 {
      _ = rig.cycle()
      for event in rig.events {
        guard case .titled(let title) = event.kind else { continue }
        #expect(rig.player.announcedTitle == title)
        reported.append((title, rig.frame))
      }
    }
    #expect(reported.map(\.title) == ["second 0", "second 1", "second 2", "second 3"])
    for (second, report) in reported.enumerated() {
      #expect(abs(report.frame - second * 48000) <= 4800)
    }
  }

  @Test func `a source that ends early at once begins before it fails`() throws {
    let rig = try PlayerRig()
    rig.player.enqueue(Ramp(frames: 32, supportsSeeking: true, announcedFrameCount: 6400))
    rig.player.play()
    _ = rig.run(cycles: 60)
    rig.conclude()
    let reported = names(rig.events)
    #expect(reported.first == "0 decoding")
    #expect(reported.contains { $0.hasPrefix("0 failed") })
    #expect(!reported.contains { $0.hasPrefix("0 decoded") })
  }

  /// A source of numbered frames without a file.
  final class Ramp: PlainSoundDecoder {
    let name = "a ramp"
    let sampleRate = 48000
    let channelCount = 1
    let frameCount: Int?
    let announcedFrameCount: Int?
    let supportsSeeking: Bool
    private(set) var position = 0
    private let failsBehindSeek: Bool
    private var hasFailed = false

    /// Whether each second has a title, as of a radio station.
    private let hasTitles: Bool
    var announcedTitle: String? { hasTitles ? "second \(position / sampleRate)" : nil }

    init(
      frames: Int, supportsSeeking: Bool, failsBehindSeek: Bool = false,
      announcedFrameCount: Int? = nil, hasTitles: Bool = false
    ) {
      frameCount = frames
      self.supportsSeeking = supportsSeeking
      self.failsBehindSeek = failsBehindSeek
      self.announcedFrameCount = announcedFrameCount
      self.hasTitles = hasTitles
    }

    func read(
      into buffer: inout SampleBuffer, at target: Int, frames: Int
    ) throws(FileFailure) -> Int {
      let count = min(frames, (frameCount ?? 0) - position)
      if hasFailed || (count == 0 && isCutShort) {
        throw FileFailure(.unusableContents, "A ramp ends here.", hint: "Stand still.")
      }
      for frame in 0..<count {
        buffer[target + frame] = Float(position + frame + 1) / 8_388_608
      }
      position += count
      return count
    }

    func seek(toFrame frame: Int) throws(FileFailure) {
      guard supportsSeeking || frame == position else {
        throw FileFailure(.unusableContents, "A ramp goes up only.", hint: "Read on.")
      }
      position = frame
      hasFailed = failsBehindSeek
    }
  }
}

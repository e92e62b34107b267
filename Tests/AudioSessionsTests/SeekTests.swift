import AudioBasics
import AudioFiles
import AudioSessions
import Testing

/// Tests of seeks to the end of a source, and of seeks that a source cannot execute.
@Suite struct SeekTests {
  /// The number of frames that are played before a change is audible.
  private static let lead = 48000 / 50 + 2 * 64

  /// Returns a rig that has played 128 frames of the first of `files`.
  private func playing(_ files: [CountedFile], times: Int? = 1) throws -> PlayerRig {
    let rig = try PlayerRig()
    var settings = TrackSettings()
    settings.range.times = times
    for file in files { rig.enqueue(file, settings: settings) }
    rig.player.play()
    #expect(difference(numbers(rig.run(cycles: 2)), 0..<128) == nil)
    return rig
  }

  @Test(arguments: [48000, 44100])
  func `a seek to the end ends the track, and the next one follows`(rate: Int) throws {
    let frames = rate
    let first = try CountedFile(frames: frames, sampleRate: rate)
    let rig = try playing([CountedFile(frames: 48000), first])
    try rig.player.seek(toFrame: 48000)
    let heard = numbers(rig.run(cycles: 100))
    #expect(difference(heard.prefix(Self.lead), 128..<128 + Self.lead) == nil)
    #expect(heard[Self.lead + 100] < 200)
    #expect(rig.player.current?.info.name == first.path)
    // The end of a converted track, in seconds, with nothing after it.
    try rig.player.seek(toSeconds: 1)
    let rest = numbers(rig.run(cycles: 40))
    #expect(rest.suffix(1000).allSatisfy { $0 == -1 })
    #expect(rig.isFinished && rig.player.state == .idle)
    let ends = rig.events.filter { if case .renderingComplete = $0.kind { true } else { false } }
    #expect(ends.count == 2)
  }

  @Test func `a seek to the end begins the next pass of a loop, as often as there is one`() throws {
    let rig = try playing([CountedFile(frames: 48000)], times: 3)
    for times in [2, 1] {
      try rig.player.seek(toFrame: 48000)
      let heard = numbers(rig.run(cycles: 30))
      #expect(difference(heard[Self.lead...], 0..<heard.count - Self.lead) == nil)
      #expect(rig.player.settings?.range.times == times)
    }
    try rig.player.seek(toFrame: 48000)
    #expect(numbers(rig.run(cycles: 30))[Self.lead...].allSatisfy { $0 == -1 })
    let endless = try playing([CountedFile(frames: 48000)], times: nil)
    try endless.player.seek(toSeconds: 1)
    let heard = numbers(endless.run(cycles: 30))
    #expect(difference(heard[Self.lead...], 0..<heard.count - Self.lead) == nil)
  }

  @Test(arguments: [0, -1, .min])
  func `a seek to the end of a track that was to end plays nothing more`(times: Int) throws {
    let rig = try playing([CountedFile(frames: 48000)])
    rig.player.setRegion(nil, times: times)
    try rig.player.seek(toFrame: 48000)
    #expect(numbers(rig.run(cycles: 30))[Self.lead...].allSatisfy { $0 == -1 })
  }

  @Test func `of seeks at once the last one counts, also after one to the end`() throws {
    let rig = try playing([CountedFile(frames: 48000)])
    try rig.player.seek(toFrame: 48000)
    try rig.player.seek(toFrame: 20000)
    let heard = numbers(rig.run(cycles: 30))
    #expect(difference(heard[Self.lead...], 20000..<20000 + heard.count - Self.lead) == nil)
  }

  @Test func `backwards, the end is the beginning`() throws {
    let rig = try playing([CountedFile(frames: 48000)])
    rig.player.setReversed(true)
    try rig.player.seek(toFrame: 48000)
    let heard = numbers(rig.run(cycles: 30))
    #expect(difference(heard[Self.lead...].prefix(500), (47500..<48000).reversed()) == nil)
  }

  /// Returns the failure that `seek` throws; nil if it throws none.
  private func failure(_ seek: () throws(SeekFailure) -> Void) -> SeekFailure? {
    do throws(SeekFailure) {
      try seek()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a seek that no source allows is refused before one is open`() throws {
    let player = AudioPlayer()
    player.enqueue(path: "later.wav")
    let outOfRange = SeekFailure.outOfRange(frameCount: nil)
    #expect(failure { () throws(SeekFailure) in try player.seek(toFrame: -1) } == outOfRange)
    #expect(failure { () throws(SeekFailure) in try player.seek(toFrame: .min) } == outOfRange)
    for seconds in [-1, .nan, .infinity] {
      #expect(
        failure { () throws(SeekFailure) in try player.seek(toSeconds: seconds) } == outOfRange)
    }
  }

  @Test
  func `a seek beyond a source that was not open is refused by an event, and changes nothing`()
    throws
  {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 48000))
    try rig.player.seek(toFrame: 48001)
    try rig.player.seek(toSeconds: 1e30)
    rig.player.play()
    #expect(difference(numbers(rig.run(cycles: 20)), 0..<1280) == nil)
    let refusals = rig.events.compactMap { event -> FileFailure? in
      if case .refused(let failure) = event.kind { failure } else { nil }
    }
    #expect(refusals.map(\.kind) == [.invalidRequest, .invalidRequest])
    #expect(refusals.first?.message == "There is no such place: the source has 48000 frames.")
    try rig.player.seek(toFrame: 10_000)
    #expect(numbers(rig.run(cycles: 20))[Self.lead] == 10_000)
  }

  @Test func `of two seeks before the source is open, the one that it allows is executed`() throws {
    let rig = try PlayerRig()
    rig.enqueue(try CountedFile(frames: 48000))
    try rig.player.seek(toFrame: 640)
    try rig.player.seek(toFrame: .max)
    rig.player.play()
    #expect(difference(numbers(rig.run(cycles: 20)), 640..<1920) == nil)
  }
}

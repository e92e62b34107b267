import AudioBasics
import AudioFiles
import AudioSessions
import Glibc
import Testing

/// Tests of a player's exact output during commands, against a simple model in memory.
@Suite struct SteeringTests {
  /// A file in memory and a position in it.
  struct Model {
    let frames: Int
    var region: Range<Int>
    var times: Int?
    var isReversed = false
    var boundary = 0

    init(frames: Int) {
      self.frames = frames
      region = 0..<frames
      times = nil
    }

    /// Whether a pass has ended.
    var isAtEnd: Bool {
      isReversed ? boundary <= region.lowerBound : boundary >= region.upperBound
    }

    /// Starts the next pass, if any, at the end of a pass.
    mutating func wrap() {
      guard isAtEnd, times != 1 else { return }
      times = times.map { $0 - 1 }
      boundary = isReversed ? region.upperBound : region.lowerBound
    }

    mutating func next() -> Int? {
      wrap()
      if isAtEnd { return nil }
      boundary += isReversed ? -1 : 1
      return isReversed ? boundary : boundary - 1
    }

    /// Moves a position after the region to the start of the region, or to its end if it plays in
    /// reverse.
    mutating func settle() {
      boundary = min(max(0, boundary), frames)
      if isAtEnd {
        boundary = isReversed ? region.upperBound : region.lowerBound
      }
    }
  }

  @Test func `the direction can be set repeatedly`() throws {
    let file = try CountedFile(frames: 48_000)
    let rig = try PlayerRig()
    rig.enqueue(file)
    rig.player.play()
    _ = rig.run(cycles: 100)
    for isReversed in [true, true, false, false] {
      rig.player.setReversed(isReversed)
      let heard = numbers(rig.run(cycles: 60)).suffix(1000)
      let steps = Set(zip(heard, heard.dropFirst()).map { $1 - $0 })
      #expect(steps == [isReversed ? -1 : 1])
    }
  }

  @Test(arguments: [(FileFormat.wav, UInt64(1)), (.flac, 2)])
  func `random seeks, reversals and regions play exactly the frames of the model`(
    format: FileFormat, seed: UInt64
  ) throws {
    // A long test runs 1000 changes.
    let steps = getenv("DUPLEX_LONG") == nil ? 300 : 1000
    var random = SplitMix64(seed: seed)
    let file = try CountedFile(frames: 70_000, format: format)
    var done = 0
    while done < steps {
      let rig = try PlayerRig()
      var settings = TrackSettings()
      settings.range.times = nil
      rig.enqueue(file, settings: settings)
      rig.player.play()
      var model = Model(frames: file.frames)
      var expected: [Int] = []
      var heard: [Int] = []
      var isOver = false
      while done < steps, !isOver {
        done += 1
        let before = expected.count
        let cycles = Int.random(in: 1...60, using: &random)
        // A command takes effect after the queued frames.
        let lead = heard.isEmpty ? 0 : 48000 / 50 + 2 * rig.periodFrames
        for _ in 0..<max(0, heard.count + lead - before) {
          if let frame = model.next() { expected.append(frame) } else { isOver = true }
        }
        guard !isOver else { break }
        model.wrap()
        try ask(&model, rig.player, &random)
        heard += numbers(rig.run(cycles: max(cycles, 24)))
        while expected.count < heard.count, let frame = model.next() { expected.append(frame) }
        if expected.count < heard.count { isOver = true }
        let count = min(expected.count, heard.count)
        let different = (0..<count).first { expected[$0] != heard[$0] }
        try #require(different == nil, "frame \(different ?? 0) after \(done) changes")
        #expect(heard[count...].allSatisfy { $0 == -1 })
      }
    }
  }

  private func ask(
    _ model: inout Model, _ player: AudioPlayer, _ random: inout SplitMix64
  ) throws {
    switch Int.random(in: 0...5, using: &random) {
    case 0, 1:
      let frame = Int.random(in: 0...model.frames, using: &random)
      try player.seek(toFrame: frame)
      model.boundary = frame
    case 2:
      player.toggleReversed()
      model.isReversed.toggle()
    case 3:
      let start = Int.random(in: 0..<model.frames - 1, using: &random)
      let length = [1, 37, 500, 20000].randomElement(using: &random) ?? 1
      let end = min(model.frames, start + length)
      let times = [nil, nil, nil, 40].randomElement(using: &random) ?? nil
      player.setRegion(start..<end, times: times)
      model.region = start..<end
      model.times = times
    case 4:
      player.setRegion(nil, times: nil)
      model.region = 0..<model.frames
      model.times = nil
    default:
      let seconds = Double.random(in: -1...1, using: &random)
      try player.seek(bySeconds: seconds)
      let place = (Double(model.boundary) + seconds * 48000).rounded()
      let first = model.region.lowerBound + (model.isReversed ? 1 : 0)
      let last = model.region.upperBound - (model.isReversed ? 0 : 1)
      model.boundary = Int(clamping: max(Double(first), min(place, Double(max(first, last)))))
    }
    model.settle()
  }
}

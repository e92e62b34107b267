import AudioBasics
import AudioFiles
import AudioSessions
import Testing

/// Tests of a player's events against the played samples, with random commands. The frame numbers
/// of all files are different.
@Suite struct PlayerEventModelTests {
  /// An event and the unit's frame at which it was reported.
  private struct DeliveredEvent {
    let event: PlayerEvent
    let frame: Int
  }

  /// A run of a player with random commands.
  private struct Run {
    let rig: PlayerRig
    var random: SplitMix64
    var heard: [Int] = []
    var delivered: [DeliveredEvent] = []
    var commands: [Int] = []
    /// The number of frames of each file, in the order of the queue.
    var lengths: [Int] = []
    var files: [String: Int] = [:]

    /// The difference between the first frame numbers of successive files.
    static let stride = 100_000

    init(seed: UInt64) throws {
      rig = try PlayerRig()
      random = SplitMix64(seed: seed)
      rig.player.endingSoonLeadSeconds = 0.4
      for _ in 0..<3 { try enqueue() }
      rig.player.play()
      for _ in 0..<12 {
        try command()
        run(cycles: Int.random(in: 1...500, using: &random))
      }
      rig.player.play()
      commands.append(rig.frame)
      run(cycles: 2600)
      rig.conclude()
      collect()
    }

    private mutating func enqueue() throws {
      guard lengths.count < 60 else { return }
      let frames = Int.random(in: 2000...60_000, using: &random)
      let file = try CountedFile(frames: frames, first: lengths.count * Self.stride)
      rig.enqueue(file)
      files[file.path] = lengths.count
      lengths.append(frames)
    }

    private mutating func command() throws {
      commands.append(rig.frame)
      let player = rig.player
      switch Int.random(in: 0..<9, using: &random) {
      case 0: try? player.seek(toFrame: Int.random(in: 0..<90_000, using: &random))
      case 1: try? player.seek(bySeconds: Double.random(in: -1...1, using: &random))
      case 2: player.cancelCurrent()
      case 3: player.skip(by: Int.random(in: -2...1, using: &random))
      case 4: player.pause()
      case 5: player.play()
      case 6:
        player.stop()
        try enqueue()
        player.play()
      default: try enqueue()
      }
    }

    private mutating func run(cycles: Int) {
      for _ in 0..<cycles {
        heard += numbers(rig.cycle())
        collect()
      }
    }

    private mutating func collect() {
      delivered += rig.events.map { DeliveredEvent(event: $0, frame: rig.frame) }
    }

    /// Returns whether no command was issued from 400 frames before `first` to 400 frames after
    /// `last`. The margin is necessary because frames that fade in cannot be identified.
    func isUndisturbed(from first: Int, to last: Int) -> Bool {
      !commands.contains { first - 400 <= $0 && $0 <= last + 400 }
    }

    /// Returns the file and its frame that are played at `frame`; nil in silence.
    func place(at frame: Int) -> (file: Int, frame: Int)? {
      guard heard.indices.contains(frame), heard[frame] >= 0 else { return nil }
      return (heard[frame] / Self.stride, heard[frame] % Self.stride)
    }

    /// The events that were reported for a different frame than the one where they occurred.
    var mistakes: [String] {
      delivered.compactMap { delivered in
        guard let frame = delivered.event.frame, let file = files[delivered.event.source],
          frame < heard.count,
          isUndisturbed(from: min(delivered.frame, frame), to: max(delivered.frame, frame))
        else { return nil }
        // The frame of an event is compared with the frames that were played.
        let isRight =
          switch delivered.event.kind {
          case .renderingWillStart, .renderingStarted:
            place(at: frame) ?? (-1, 0) == (file, 0)
          case .endingSoon, .renderingComplete, .endOfAudio:
            place(at: frame - 1) ?? (-1, 0) == (file, lengths[file] - 1)
          default: true
          }
        return isRight
          ? nil : "\(delivered.event.kind) of \(file) at \(frame), delivered at \(delivered.frame)"
      }
    }
  }

  @Test(arguments: UInt64(1)...6)
  func `events agree with the played frames for random commands`(seed: UInt64) throws {
    let run = try Run(seed: seed)
    #expect(run.mistakes == [])
    let kinds = run.delivered.map { "\($0.event.kind)" }
    #expect(kinds.contains("renderingComplete") && kinds.contains("endingSoon"))
  }
}

import AudioClocks
import AudioDevices
import AudioSessions

/// The positions of all parts of an overdub, in frames at the unit's rate, once the device is open
/// and the round trip known.
///
/// What is played at a frame of the unit's timeline comes back a round trip later, so the backing's
/// frame b, which is played at `learningFrames` + `countInFrames` + b - `playedFrom`, is captured
/// `alignment` frames after that.
struct OverdubPlan {
  /// Frames of the whole backing.
  let backingFrames: Int
  /// The range of the backing that is recorded.
  let region: Range<Int>
  /// Whether the take is shorter because of --duration.
  let isShortened: Bool
  /// The backing's first frame that is played: a little before the region.
  let playedFrom: Int
  /// Frames of silence before all, in which a device's steps are learned.
  let learningFrames: Int
  /// Frames of the count-in.
  let countInFrames: Int
  /// What is taken off, in frames.
  let alignmentFrames: Double
  /// What the round trip has beyond that.
  let restFrames: Double

  /// Lead before a region, where no count-in gives it.
  private static let leadSeconds = 2

  init(
    _ command: OverdubCommand, backing track: TrackReader, roundTrip: Double,
    _ configuration: DuplexConfiguration
  ) throws {
    let rate = configuration.sampleRate
    backingFrames = track.frameCount ?? 0
    region = try Self.region(command, of: backingFrames, rate: rate)
    isShortened = region.upperBound < Self.end(command, of: backingFrames, rate: rate)
    let first = region.lowerBound
    learningFrames = StepAlignment.learningFrames(configuration)
    countInFrames = ClickTrack.frameCount(
      beats: command.countIn, tempo: command.tempo, sampleRate: rate)
    playedFrom = command.countIn > 0 ? first : max(0, first - Self.leadSeconds * rate)
    alignmentFrames = command.subFrame ? roundTrip : roundTrip.rounded()
    restFrames = roundTrip - alignmentFrames
  }

  /// Where the take ends without --duration.
  private static func end(_ command: OverdubCommand, of frames: Int, rate: Int) -> Int {
    min(frames, command.to?.frameCount(at: rate) ?? frames)
  }

  /// The range to be recorded of a backing of `frames` frames at this rate.
  static func region(_ command: OverdubCommand, of frames: Int, rate: Int) throws -> Range<Int> {
    guard frames > 0 else {
      throw ToolFailure.unusable(
        "\(command.backing) has no frames, or its length is unknown.",
        hint: "Save the backing track to a file first, and check it with `duplex inspect`.")
    }
    let first = command.from?.frameCount(at: rate) ?? 0
    let end = end(command, of: frames, rate: rate)
    guard first < end else {
      throw ToolFailure.usage(
        "There is nothing between --from and --to in \(command.backing).",
        hint:
          "The file is \((Double(frames) / Double(rate)).shown(2)) s (\(frames.counted("frame"))) long: use times within it."
      )
    }
    guard let most = command.audio.duration?.frameCount(at: rate) else { return first..<end }
    guard most > 0 else {
      throw ToolFailure.usage("A --duration of 0 leaves no take.", hint: "Give a longer one.")
    }
    return first..<min(end, first + most)
  }

  /// The fraction of a frame to shift by; nil for none.
  var fraction: Double? {
    let fraction = alignmentFrames - alignmentFrames.rounded(.down)
    return fraction > 0 ? fraction : nil
  }

  /// Where the unit ends at the latest; where the take may move, its end is told before.
  var frameLimit: Int {
    window.firstFrame + region.count + 8 * learningFrames
  }

  /// The range of the captured frames that is the take, before what a device's steps add.
  var window: PunchWindow {
    PunchWindow(
      firstFrame: learningFrames + countInFrames + region.lowerBound - playedFrom
        + Int(clamping: alignmentFrames.rounded(.down))
        + (fraction != nil ? FrameShift.delayFrames : 0),
      frames: region.count)
  }
}

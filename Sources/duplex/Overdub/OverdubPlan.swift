import AudioClocks
import AudioDevices
import AudioSessions

/// The positions of all parts of an overdub, in frames at the sample rate of the unit. They are
/// computed once the device is open and the round trip is known.
///
/// A frame that is played is captured one round trip later. Frame b of the backing is played at
/// frame `learningFrames` + `countInFrames` + b - `playedFrom` of the unit, and is captured
/// `alignmentFrames` after that.
struct OverdubPlan {
  /// The number of frames of the whole backing.
  let backingFrames: Int
  /// The range of the backing during which the take is recorded.
  let region: Range<Int>
  /// Whether the take is shorter because of --duration.
  let isShortened: Bool
  /// The first frame of the backing that is played, which is before the region by a lead.
  let playedFrom: Int
  /// The frames of silence at the beginning, during which the steps of a device are measured.
  let learningFrames: Int
  /// The number of frames of the count-in.
  let countInFrames: Int
  /// The delay in frames that is removed from the take.
  let alignmentFrames: Double
  /// The rest of the round trip in frames, which is not removed.
  let restFrames: Double

  /// The lead before a region in seconds, used if there is no count-in.
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

  /// Returns the frame at which the take ends without --duration.
  private static func end(_ command: OverdubCommand, of frames: Int, rate: Int) -> Int {
    min(frames, command.to?.frameCount(at: rate) ?? frames)
  }

  /// Returns the range of a backing of `frames` frames to be recorded. Throws if it is empty.
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
    guard let maximum = command.audio.duration?.frameCount(at: rate) else { return first..<end }
    guard maximum > 0 else {
      throw ToolFailure.usage("A --duration of 0 leaves no take.", hint: "Give a longer one.")
    }
    return first..<min(end, first + maximum)
  }

  /// The fraction of a frame by which the take is shifted; nil if there is none.
  var fraction: Double? {
    let fraction = alignmentFrames - alignmentFrames.rounded(.down)
    return fraction > 0 ? fraction : nil
  }

  /// The frame at which the session ends at the latest. The end of a take that is moved by the
  /// steps of a device is normally detected before.
  var frameLimit: Int {
    window.firstFrame + region.count + 8 * learningFrames
  }

  /// The range of the captured frames that form the take, before the steps of a device are added.
  var window: PunchWindow {
    PunchWindow(
      firstFrame: learningFrames + countInFrames + region.lowerBound - playedFrom
        + Int(clamping: alignmentFrames.rounded(.down))
        + (fraction != nil ? FrameShift.delayFrames : 0),
      frames: region.count)
  }
}

import AudioClocks
import AudioDevices
import AudioFiles
import AudioSessions

/// Where everything lies, in frames at the unit's rate, once the device is open and the round trip
/// known.
///
/// What is played at a frame of the unit's timeline comes back a round trip later, so the backing's
/// frame b, which is played at `countInFrames` + b - `playedFrom`, is found on the tape `alignment`
/// frames after that.
struct OverdubPlan {
  /// Frames of the whole backing.
  let backingFrames: Int
  /// The stretch that is recorded, of the backing.
  let region: Range<Int>
  /// The backing's first frame that is played: a little before the region.
  let playedFrom: Int
  /// Frames of the count-in.
  let countInFrames: Int
  /// What is taken off, in frames.
  let alignmentFrames: Double
  /// What the round trip has beyond that.
  let restFrames: Double

  /// Lead before a region, where no count-in gives it.
  private static let leadSeconds = 2

  init(
    _ command: OverdubCommand, backing track: Track, roundTrip: Double,
    _ configuration: DuplexConfiguration
  ) throws {
    let rate = configuration.sampleRate
    backingFrames = track.frameCount ?? 0
    region = try Self.region(command, of: backingFrames, rate: rate)
    let first = region.lowerBound
    countInFrames = ClickTrack.frameCount(
      beats: command.countIn, tempo: command.tempo, sampleRate: rate)
    playedFrom = command.countIn > 0 ? first : max(0, first - Self.leadSeconds * rate)
    alignmentFrames = command.subFrame ? roundTrip : roundTrip.rounded()
    restFrames = roundTrip - alignmentFrames
  }

  /// The stretch to be recorded of a backing of so many frames at this rate.
  static func region(_ command: OverdubCommand, of frames: Int, rate: Int) throws -> Range<Int> {
    guard frames > 0 else {
      throw ToolFailure(
        .unusableInput, code: "inputUnusable",
        "\(command.backing) has no frames, or does not say how many.",
        hint: "Save it to a file with sound in it first.")
    }
    let first = command.from?.frameCount(at: rate) ?? 0
    var end = min(frames, command.to?.frameCount(at: rate) ?? frames)
    if let most = command.audio.duration?.frameCount(at: rate) { end = min(end, first + most) }
    guard first < end else {
      throw ToolFailure(
        .usage, code: "usage", "There is nothing between --from and --to in \(command.backing).",
        hint: "It has \(frames) frames, \((Double(frames) / Double(rate)).shown(2)) s.")
    }
    return first..<end
  }

  /// The fraction of a frame to shift by; nil for none.
  var fraction: Double? {
    let fraction = alignmentFrames - alignmentFrames.rounded(.down)
    return fraction > 0 ? fraction : nil
  }

  /// The stretch of the tape that is the take.
  var window: TakeWindow {
    TakeWindow(
      firstFrame: countInFrames + region.lowerBound - playedFrom
        + Int(clamping: alignmentFrames.rounded(.down))
        + (fraction != nil ? FrameShift.delayFrames : 0),
      frames: region.count)
  }
}

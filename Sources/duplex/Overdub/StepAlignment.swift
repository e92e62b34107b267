import AudioDevices
import AudioSessions
import Synchronization

/// The frames that a device's steps add to the round trip, as two clocks held together need them:
/// known once the steps were seen, within the first second, and taken off a take beside the round
/// trip itself.
///
/// Written by the thread that watches the session, read by the one that writes the take.
final class StepAlignment: Sendable {
  private let isFixed: Bool
  private let latest = Atomic(0)
  private let chosen = Atomic(0)
  private let end = Atomic(Int.max)

  /// For a unit of `configuration`. With `isFixed` the round trip that was told has them already.
  init(_ configuration: DuplexConfiguration, isFixed: Bool) {
    self.isFixed = isFixed || configuration.master == nil
  }

  /// Frames from the unit's start after which the steps are known; 0 where there are none to learn.
  static func learningFrames(_ configuration: DuplexConfiguration) -> Int {
    configuration.master == nil ? 0 : configuration.sampleRate * 5 / 4
  }

  /// Frames that were taken off a take for them.
  var frames: Int { chosen.load(ordering: .relaxed) }

  /// Takes in what is known at a moment. Answers with whether the take is complete by then.
  func isComplete(at moment: SessionMoment) -> Bool {
    if !isFixed, let added = moment.drift?.addedFrames { latest.store(added, ordering: .relaxed) }
    return moment.frames >= end.load(ordering: .relaxed)
  }

  /// Where a take begins that would begin at `window` without steps: asked once, when they are
  /// known.
  func place(_ window: PunchWindow) -> PunchWindow {
    let added = latest.load(ordering: .relaxed)
    chosen.store(added, ordering: .relaxed)
    let placed = PunchWindow(firstFrame: window.firstFrame + added, frames: window.frames)
    if let frames = placed.frames {
      end.store(placed.firstFrame + frames, ordering: .relaxed)
    }
    return placed
  }

  /// Says so where the steps changed behind the take's beginning: from there on it is late or
  /// early.
  func checkChange(to added: Int, path: String) {
    guard !isFixed, added != frames else { return }
    warn(
      "alignmentChanged",
      "The sound server changed its buffering during the take: at the end \(path) is "
        + "\(abs(added - frames).counted("frame")) too \(added > frames ? "late" : "early").",
      hint: "Record it again, or name the card itself with --device.")
  }
}

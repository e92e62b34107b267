import AudioDevices
import AudioSessions
import Synchronization

/// The frames that are added to the round trip if a device with a separate clock delivers its
/// frames in steps. They are known within the first second, once the steps were measured, and are
/// removed from a take in addition to the round trip.
///
/// The thread that watches the session writes them, and the thread that writes the take reads them.
final class StepAlignment: Sendable {
  private let isFixed: Bool
  private let latest = Atomic(0)
  private let chosen = Atomic(0)
  private let end = Atomic(Int.max)

  /// Creates the alignment of a unit with `configuration`. If `isFixed` is true, the round trip
  /// that the user gave includes the added frames.
  init(_ configuration: DuplexConfiguration, isFixed: Bool) {
    self.isFixed = isFixed || configuration.master == nil
  }

  /// Returns the number of frames from the start of the unit until the steps are known; 0 if the
  /// unit has only one clock.
  static func learningFrames(_ configuration: DuplexConfiguration) -> Int {
    configuration.master == nil ? 0 : configuration.sampleRate * 5 / 4
  }

  /// The number of frames that were removed from a take because of steps.
  var frames: Int { chosen.load(ordering: .relaxed) }

  /// Stores the frames added at `snapshot`. Returns whether the take is complete at that time.
  func isComplete(at snapshot: SessionSnapshot) -> Bool {
    if !isFixed, let added = snapshot.drift?.addedFrames { latest.store(added, ordering: .relaxed) }
    return snapshot.frames >= end.load(ordering: .relaxed)
  }

  /// Returns the window of a take whose window without steps would be `window`. Called once, when
  /// the steps are known.
  func place(_ window: PunchWindow) -> PunchWindow {
    let added = latest.load(ordering: .relaxed)
    chosen.store(added, ordering: .relaxed)
    let placed = PunchWindow(firstFrame: window.firstFrame + added, frames: window.frames)
    if let frames = placed.frames {
      end.store(placed.firstFrame + frames, ordering: .relaxed)
    }
    return placed
  }

  /// Warns if the steps changed after the start of the take, which is late or early from there on.
  func checkChange(to added: Int, path: String) {
    guard !isFixed, added != frames else { return }
    warn(
      "alignmentChanged",
      "The sound server changed its buffering during the take: at the end \(path) is "
        + "\(abs(added - frames).counted("frame")) too \(added > frames ? "late" : "early").",
      hint: "Record it again, or name the card itself with --device.")
  }
}

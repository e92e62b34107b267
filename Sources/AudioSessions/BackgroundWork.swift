import AudioDevices
import RealtimeAudio

/// The half of a feature that waits for a disk, a network or a screen. It is executed in steps.
///
/// One thread at a time calls `step`: a thread of its own in real time, or the thread that runs the
/// duplex unit in virtual time, so that each run has the same result bit for bit.
public protocol BackgroundWork: AnyObject, Sendable {
  /// Does the work that is due. Returns false if all work is done.
  func step() -> Bool

  /// Requests the end because the audio has ended: the next steps complete the work. Any thread.
  func conclude()

  /// Requests the end although the audio thread did not signal its end, because its device does not
  /// respond: the next steps complete the work with the data received so far. Any thread.
  func abandon()

  /// The need of this work for the session and the program at this moment. Any thread.
  var workState: BackgroundWorkState { get }

  /// Whether virtual time must not advance, because the work waits for a network in real time.
  var holdsVirtualTime: Bool { get }

  /// The number of NaN or infinite samples that it received and replaced by silence. Any thread.
  var nonFiniteCount: Int { get }

  /// The pause between two steps in real time, in milliseconds. Read by the thread that calls
  /// `step`.
  var stepMilliseconds: Int { get }
}

extension BackgroundWork {
  /// Default: calls `conclude()`.
  public func abandon() { conclude() }

  /// Default: `.required`. Work that stores nothing, and work that stores data, override it.
  public var workState: BackgroundWorkState { .required }

  /// Default: false.
  public var holdsVirtualTime: Bool { false }

  /// Default: 0.
  public var nonFiniteCount: Int { 0 }

  /// Default: 20 ms, that is 50 steps per second.
  public var stepMilliseconds: Int { 20 }
}

/// How much background work needs the session and the program: what an end at this moment would
/// cost.
public enum BackgroundWorkState: Sendable, Equatable {
  /// The session may end without this work, because it stores nothing, and a network, a disk or a
  /// decoder may block it forever.
  case dispensable
  /// The session waits for the end of this work, but no data would be lost.
  case required
  /// Received data is not stored yet, and would be lost. None is being written.
  case unsaved
  /// A file that would be lost is being written, and received data is not stored yet.
  case saving
  /// All data is stored, but the files are still in use: the last step has not ended, or programs
  /// of the user process them.
  case finishing

  /// Whether the program must wait for the disk, or for programs of the user.
  package var isSaving: Bool { self == .saving || self == .finishing }

  /// Whether received data would be lost if the program ended now.
  package var isUnsaved: Bool { self == .unsaved || self == .saving }
}

/// A thread of normal priority that calls `step` of background work, with a pause of
/// `stepMilliseconds`, until the work is done.
package final class BackgroundThread {
  private struct Loop: RealtimeWork, ~Copyable, Sendable {
    let work: any BackgroundWork
    let done: AtomicFlag

    mutating func run() {
      while work.step() { HostClock.pause(milliseconds: work.stepMilliseconds) }
      done.raise()
    }
  }

  private var thread: RealtimeThread<Loop>?
  private let done = AtomicFlag()

  /// Whether all work is done.
  package var isDone: Bool { done.isRaised }

  /// Starts a thread named `name` for `work`.
  package init(
    _ work: any BackgroundWork, name: String = "duplex-disk"
  ) throws(DeviceFailure) {
    do throws(ThreadFailure) {
      thread = try RealtimeThread(
        name: name, priority: .normal, stackByteCount: 1_048_576,
        Loop(work: work, done: done))
    } catch {
      throw DeviceFailure(error)
    }
  }

  /// Waits until the work is done.
  package func join() {
    guard let thread = thread.take() else { return }
    _ = thread.join()
  }

  /// Detaches the thread without waiting, because a disk may block it forever.
  func abandon() {
    guard let thread = thread.take() else { return }
    thread.abandon()
  }
}

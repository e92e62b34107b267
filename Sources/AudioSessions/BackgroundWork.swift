import AudioDevices
import RealtimeAudio

/// The half of a feature that waits on disk, network or screen, done one step at a time.
///
/// Only one thread steps it at a time: its own while audio runs in real time, or the one that also
/// turns the unit where time is virtual, so that a run repeats bit for bit.
public protocol BackgroundWork: AnyObject, Sendable {
  /// Does what there is to do now. False when there will be no more.
  func step() -> Bool

  /// The audio has ended: nothing new is wanted. Any thread; the next steps come to an end.
  func conclude()

  /// The audio has ended and will never say so, since its device does not answer: what came is all
  /// there is. Any thread; the next steps come to an end.
  func abandon()

  /// Whether it is in the middle of what would be lost if it were cut off: a file that is written.
  /// Any thread.
  var isSaving: Bool { get }

  /// Whether what has come is not all stored yet, so that some of it would be lost if the program
  /// ended now. Any thread.
  var isUnfinished: Bool { get }

  /// Whether that waits for programs of the user's. Any thread.
  var isWaitingForOthers: Bool { get }

  /// Whether nothing is lost where it is left to itself once the audio has ended: it brings sound
  /// in.
  var isDispensable: Bool { get }

  /// Whether virtual time should stand still, because a network in real time is waited for.
  var needsTime: Bool { get }

  /// Samples that it brought in as NaN or infinite, and replaced by silence. Any thread.
  var nonFiniteCount: Int { get }

  /// Milliseconds that may pass between two steps where time is real. The thread that steps it.
  var stepMilliseconds: Int { get }
}

extension BackgroundWork {
  /// Default: calls `conclude()`.
  public func abandon() { conclude() }

  /// Default: false.
  public var isSaving: Bool { false }

  /// Default: false, it stores nothing.
  public var isUnfinished: Bool { false }

  /// Default: false, its end is waited for.
  public var isDispensable: Bool { false }

  /// Default: false.
  public var isWaitingForOthers: Bool { false }

  /// Default: false.
  public var needsTime: Bool { false }

  /// Default: 0.
  public var nonFiniteCount: Int { 0 }

  /// Default: 20, which is 50 steps a second.
  public var stepMilliseconds: Int { 20 }
}

/// A thread of normal priority that steps background work as often as the work wants, until there
/// is no more.
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

  /// Whether there is no more to do.
  package var isDone: Bool { done.isRaised }

  /// Starts it, as `name`.
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

  /// Leaves the work to itself, where it may never come back from a disk.
  func abandon() {
    guard let thread = thread.take() else { return }
    thread.abandon()
  }
}

import AudioSessions
import ProgramRuntime
import RealtimeAudio
import Synchronization

/// The user's request to end a session, and the time since that request. Any thread.
final class EndRequest: Sendable {
  /// The time in nanoseconds in which a second signal counts as the same request: `timeout` and
  /// terminals may send a signal twice.
  static let repeatNanoseconds: UInt64 = 300_000_000

  private let since = Atomic<UInt64>(0)
  private let isDiskReported = AtomicFlag()
  private let work: [any BackgroundWork]

  /// Creates the request for a session whose files `work` writes.
  init(_ work: [any BackgroundWork]) {
    self.work = work
  }

  /// The nanoseconds since the first request; nil if there was none.
  var age: UInt64? {
    let since = since.load(ordering: .relaxed)
    return since == 0 ? nil : HostClock.nanoseconds &- since
  }

  /// Records a request of the user. Returns whether it repeats an earlier request.
  func note() -> Bool {
    let isRepeated = age.map { $0 > Self.repeatNanoseconds } ?? false
    _ = since.compareExchange(
      expected: 0, desired: max(1, HostClock.nanoseconds), ordering: .relaxed)
    return isRepeated
  }

  /// Ends the program immediately. Files keep the samples stored up to the last update of their
  /// headers.
  func leave() -> Never {
    Terminal.leaveAtOnce(
      work.contains(where: \.workState.isUnsaved)
        ? ToolFailure(
          .loss, code: "unsaved", "The program was stopped before all of the recording was stored.",
          hint: "The stored part can be played; the end of the recording may be lost.")
        : ToolFailure(
          OutputMode.current.stoppedStatus, code: "stopped",
          "The program was stopped before it had ended the session.",
          hint: "Start the command again, and let it finish."))
  }

  /// Warns once if the disk delays the end by more than 250 ms.
  func checkDisk() {
    guard let age, age > 250_000_000, work.contains(where: \.workState.isUnsaved),
      isDiskReported.raiseFirst()
    else { return }
    warn(
      "diskWaiting", "The disk has not stored the rest of the recording yet.",
      hint:
        "Press Ctrl-C again to end at once: the stored part can be played, and the rest may be lost."
    )
  }
}

/// The user's request to end long work on files without audio: SIGINT, SIGTERM or SIGHUP. While an
/// object of this class exists, these signals do not end the program by themselves.
final class StopRequest {
  private let signals = SignalWatch()
  private let start = HostClock.nanoseconds
  private let grace: UInt64

  /// Ignores signals in the first `graceNanoseconds`: they repeat the one that ended the session.
  init(graceNanoseconds: UInt64 = EndRequest.repeatNanoseconds) {
    grace = graceNanoseconds
  }

  /// Returns whether the end is requested.
  func isThere() -> Bool {
    signals.wait(milliseconds: 0) == .signal(.end) && HostClock.nanoseconds >= start + grace
  }

  deinit {
    // The work is complete: a request after the last call of `isThere` must not end the program.
    while signals.wait(milliseconds: 0) != .timeout {}
    SignalWatch.release()
  }
}

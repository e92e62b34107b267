import AudioLevels
import RealtimeAudio

/// The state of a recording at one moment: its length, size and levels so far. At the end, the
/// length, size and levels are those of the whole recording, and the rest is from its last frames.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// let recording = try await engine.record(to: "take.wav")
/// let subscription = engine.addStatusHandler { _ in
///   let state = recording.state
///   print(state.seconds, state.byteCount, state.levels.momentaryLUFS ?? -.infinity)
/// }
/// try await engine.run(seconds: 1)
/// subscription.cancel()
/// precondition(recording.state.seconds == 1)
/// ```
public struct RecordingState: Sendable, Equatable {
  /// The path of the growing file; nil if there is none.
  public var path: String?
  /// The sample rate in frames per second; 0 before the recording began.
  public var sampleRate = 0
  /// The number of frames written to all files so far, including gaps and removed files.
  public var frames = 0
  /// The number of bytes in the files of the recording, without those that it removed. 0 if it is
  /// written to a pipe or a device.
  public var byteCount = 0
  /// The levels so far; `.nothing` if they are not measured.
  public var levels = ProgrammeLevels.nothing
  /// The number of seconds until the disk is full; nil if unknown.
  public var secondsLeft: Double?
  /// Whether the gate is open.
  public var isOpen = false
  /// Whether the user paused.
  public var isPaused = false

  /// Creates the state of a recording that has not begun.
  public init() {}

  /// The length of the recording so far in seconds, including gaps and removed files.
  public var seconds: Double { sampleRate > 0 ? Double(frames) / Double(sampleRate) : 0 }
}

/// The events and the state of a recording, from the disk thread to those who watch it. All calls
/// may be made on any thread but the audio thread.
public final class RecordingEvents: Sendable {
  /// The queues of the events, from which each reader takes its own.
  private struct Queues {
    var polled = RecordingEventQueue()
    /// The second queue, if it is requested.
    var forwarded: RecordingEventQueue?
  }

  private let queues = MutexBox(Queues())
  private let present = MutexBox(RecordingState())
  private let isWatched = AtomicFlag()

  init() {}

  /// Returns the events since the last call; of more than 10,000 only the newest, at least 5,000.
  public func take() -> [RecordingEvent] { queues.withLock { $0.polled.take() } }

  /// Puts all events that are not taken yet, and the later ones, into a second queue as well.
  package func forward() { queues.withLock { $0.forwarded = $0.polled } }

  /// Returns the events of the second queue since the last call, with the same limit.
  package func takeForwarded() -> [RecordingEvent] {
    queues.withLock { $0.forwarded?.take() ?? [] }
  }

  /// The newest state. It is updated only after `requestState`, up to 20 times per second of the
  /// recording, and when the files are complete.
  public var state: RecordingState { present.withLock { $0 } }

  /// Requests that `state` is updated from now on. The disk thread then wakes up every 20 ms
  /// instead of every 50 ms if levels are measured.
  public func requestState() { isWatched.raise() }

  /// The newest state, which reading it requests.
  @available(*, deprecated, message: "Call `requestState` once, and read `state`.")
  public var latest: RecordingState {
    requestState()
    return state
  }

  /// Whether the state was requested.
  var isStateWanted: Bool { isWatched.isRaised }

  func emit(_ event: RecordingEvent) {
    queues.withLock { queues in
      queues.polled.append(event)
      queues.forwarded?.append(event)
    }
  }

  func update(_ change: (inout RecordingState) -> Void) {
    present.withLock { change(&$0) }
  }
}

/// Events that wait for a reader, up to a limit.
private struct RecordingEventQueue {
  /// The maximum number of events that wait for the reader: the oldest are dropped.
  private static let maximumKept = 10_000
  /// The number of waiting events from which on lines printed by a command are dropped.
  private static let maximumPrinted = 1000

  private var events: [RecordingEvent] = []

  mutating func append(_ event: RecordingEvent) {
    // Lines printed by a command never displace other events.
    if case .printed = event, events.count >= Self.maximumPrinted { return }
    // Half of them are removed at once: each removal costs as much as moving all others.
    if events.count >= Self.maximumKept { events.removeFirst(Self.maximumKept / 2) }
    events.append(event)
  }

  mutating func take() -> [RecordingEvent] {
    defer { events = [] }
    return events
  }
}

import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices

/// A request to an engine from another thread.
enum EngineOrder: Sendable {
  /// Told the devices as they were granted, or why not.
  typealias Reply = @Sendable (Result<DuplexConfiguration, EngineFailure>) -> Void
  /// Told that it is done, or why not.
  typealias Answer = @Sendable (Result<Void, EngineFailure>) -> Void

  /// Runs for `seconds` of the timeline, and until it is stopped where that is nil; the replies are
  /// told once it runs.
  case start(seconds: Double?, [Reply])
  /// Goes on with other devices; nil is told where the engine does not run.
  case change(DeviceSelection, DeviceChange.Reply)
  /// Begins a recording.
  case record(EngineRecording, Answer)
  /// Ends a recording.
  case endRecording(EngineRecording)
  /// Ends it all.
  case stop
  /// Ends the thread, for good.
  case quit
}

/// The half of an engine that may wait: a thread that opens devices, runs sessions on them and does
/// what other threads order. What it publishes may be read on any thread.
final class EngineWorker: Sendable {
  private struct State {
    var orders: [EngineOrder] = []
    var status = EngineStatus()
    var lastReport: SessionReport?
    var selection: DeviceSelection
    /// Told once this run runs.
    var waitingForStart: [EngineOrder.Reply] = []
    var waitingForStop: [@Sendable (SessionReport?) -> Void] = []

    /// Whether a start was taken whose run is not over yet.
    var isInRun = false
    /// Starts that were ordered so far, those that joined an earlier one left out.
    var startCount = 0

    /// Where the start stands that is ordered; no stop is behind it.
    var orderedStart: Int? { orders.firstIndex(where: \.isStart) }

    /// Whether it runs, or will, with no stop between.
    var isUnderWay: Bool {
      orderedStart != nil || status.phase == .running || status.phase == .starting
    }
  }

  let settings: DuplexEngine.Settings
  let player: AudioPlayer
  let events = EventSource<EngineEvent>()
  let statuses = EventSource<EngineStatus>()
  let control = SessionControl()
  private let state: MutexBox<State>

  init(_ selection: DeviceSelection, _ settings: DuplexEngine.Settings) {
    self.settings = settings
    player = AudioPlayer(
      endsWithQueue: settings.endsWithPlayer, prebufferSeconds: settings.prebufferSeconds)
    // The end of the player ends the engine, even if the program never uses `player`.
    if settings.endsWithPlayer { control.usePlayer() }
    state = MutexBox(State(selection: selection))
  }

  // MARK: Any thread

  var status: EngineStatus { state.withLock { $0.status } }

  var selection: DeviceSelection { state.withLock { $0.selection } }

  /// Has `order` carried out; where `start` is given, only if no later start was ordered than the
  /// one of that number.
  func order(_ order: EngineOrder, onlyOfStart start: Int? = nil) {
    var refused: [EngineOrder.Reply] = []
    var stopped: [@Sendable (SessionReport?) -> Void] = []
    let lastReport = state.withLock { state -> SessionReport? in
      if let start, start != state.startCount { return nil }
      defer { state.orders.append(order) }
      guard order.isStop else { return nil }
      // A start that was not taken yet never will be, and one that is asked for from now on is one
      // of its own.
      state.status.phase = state.isInRun ? .stopping : .stopped
      if let index = state.orderedStart,
        case .start(_, let replies) = state.orders.remove(at: index)
      {
        refused = replies
      }
      // No run will end that would tell them.
      if !state.isInRun { swap(&stopped, &state.waitingForStop) }
      return state.lastReport
    }
    for reply in refused { reply(.failure(.stopped)) }
    for tell in stopped { tell(lastReport) }
    state.announce()
  }

  /// Starts it, where it does not run, and has `reply` told once sound runs. Behind a stop that is
  /// under way it starts again. Where `seconds` is given, it must not run yet. Answers with the
  /// number of the start; nil where none was ordered.
  @discardableResult
  func start(seconds: Double?, _ reply: @escaping EngineOrder.Reply) -> Int? {
    var number: Int?
    let answer = state.withLock { state -> Result<DuplexConfiguration, EngineFailure>? in
      if seconds != nil, state.isUnderWay { return .failure(.alreadyRunning) }
      if let index = state.orderedStart, case .start(let seconds, let replies) = state.orders[index]
      {
        state.orders[index] = .start(seconds: seconds, replies + [reply])
        return nil
      }
      switch state.status.phase {
      case .running: return state.status.configuration.map { .success($0) }
      case .starting: state.waitingForStart.append(reply)
      case .stopped, .stopping:
        state.orders.append(.start(seconds: seconds, [reply]))
        state.startCount += 1
        number = state.startCount
        if state.status.phase == .stopped { state.status.phase = .starting }
      }
      return nil
    }
    if let answer { reply(answer) }
    state.announce()
    return number
  }

  /// Has `tell` told how it ended when it does not run any more: nil where it never ran.
  func whenStopped(_ tell: @escaping @Sendable (SessionReport?) -> Void) {
    let isStopped = state.withLock { state -> Bool in
      let isStopped = state.status.phase == .stopped
      if !isStopped { state.waitingForStop.append(tell) }
      return isStopped
    }
    if isStopped { tell(state.withLock { $0.lastReport }) }
  }

  /// The files that are played, or heard at simulated microphones: none may be recorded to.
  var inputs: Set<FileIdentity> {
    let simulated = selection.deviceNames.compactMap {
      try? SimulatedDeviceSpecification(parsing: $0)
    }
    let heard = simulated.compactMap(\.microphonePath).compactMap { FileIdentity(of: $0) }
    return player.files.union(heard)
  }

  // MARK: Its own thread

  /// Does what is ordered, until it is to quit.
  func main() {
    var pending: [EngineRecording] = []
    while true {
      let order = state.wait { state -> EngineOrder? in
        guard !state.orders.isEmpty else { return nil }
        let order = state.orders.removeFirst()
        if case .start(_, let replies) = order {
          state.isInRun = true
          state.waitingForStart += replies
          state.status.phase = .starting
        }
        return order
      }
      switch order {
      case .quit:
        for recording in pending { recording.complete(RecordingReport()) }
        events.finish()
        statuses.finish()
        return
      case .start(let seconds, _):
        publish { $0.beginRun() }
        pending = EngineRun(self).run(seconds: seconds, pending)
      case .change(let selection, let reply):
        state.withLock { $0.selection = selection }
        reply(.success(nil))
      case .record(let recording, let answer):
        let isTaken = pending.contains { $0.settings.source == recording.settings.source }
        if !isTaken { pending.append(recording) }
        answer(isTaken ? .failure(.alreadyRecording(recording.settings.source)) : .success(()))
      case .endRecording(let recording):
        pending.removeAll { $0 === recording }
        recording.complete(recording.report ?? RecordingReport())
      case .stop: break
      }
    }
  }

  /// What was ordered since the last time, in order. Once the engine is to quit that stays.
  func takeOrders() -> [EngineOrder] {
    state.withLock { state in
      // A start that comes behind a stop is for the next run.
      let count = state.orders.firstIndex { $0.isForTheNextRun } ?? state.orders.count
      defer { state.orders.removeFirst(count) }
      return Array(state.orders.prefix(count))
    }
  }

  /// Whether the thread is to end.
  var isQuitting: Bool {
    state.withLock { $0.orders.contains { if case .quit = $0 { true } else { false } } }
  }

  func publish(_ change: (inout EngineStatus) -> Void) {
    let status = state.withLock { state in
      change(&state.status)
      return state.status
    }
    statuses.send(status)
  }

  /// Sound runs on these devices.
  func noteRunning(_ configuration: DuplexConfiguration, _ selection: DeviceSelection) {
    let waiting = state.withLock { state in
      state.selection = selection
      defer { state.waitingForStart = [] }
      return state.waitingForStart
    }
    publish { status in
      // A stop may have come meanwhile.
      if status.phase != .stopping { status.phase = .running }
      status.configuration = configuration
      status.sampleRate = configuration.sampleRate
    }
    events.send(.running(configuration))
    for reply in waiting { reply(.success(configuration)) }
  }

  /// It does not run any more; `failure` where it never did.
  func noteStopped(_ report: SessionReport, _ failure: EngineFailure?) {
    let (stopped, started) = state.withLock { state in
      state.lastReport = report
      state.status.configuration = nil
      state.isInRun = false
      state.status.phase = state.orderedStart == nil ? .stopped : .starting
      defer { (state.waitingForStop, state.waitingForStart) = ([], []) }
      return (state.waitingForStop, state.waitingForStart)
    }
    statuses.send(status)
    events.send(.stopped(report))
    for reply in started { reply(.failure(failure ?? .stopped)) }
    for tell in stopped { tell(report) }
  }
}

extension EngineOrder {
  fileprivate var isStop: Bool { if case .stop = self { true } else { false } }
  fileprivate var isStart: Bool { if case .start = self { true } else { false } }

  fileprivate var isForTheNextRun: Bool {
    switch self {
    case .start, .quit: true
    case .change, .record, .endRecording, .stop: false
    }
  }
}

import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices

/// A request to an engine from another thread.
enum EngineOrder: Sendable {
  /// A callback that receives the granted configuration, or the failure.
  typealias Reply = @Sendable (Result<DuplexConfiguration, EngineFailure>) -> Void
  /// A callback that receives success or the failure.
  typealias Answer = @Sendable (Result<Void, EngineFailure>) -> Void

  /// Runs for `seconds` of the timeline, or until it is stopped if that is nil. The replies are
  /// called once the engine runs.
  case start(seconds: Double?, [Reply])
  /// Continues with other devices. The reply receives nil if the engine does not run.
  case change(DeviceSelection, DeviceChange.Reply)
  /// Begins a recording.
  case record(EngineRecording, Answer)
  /// Ends a recording.
  case endRecording(EngineRecording)
  /// Ends the run.
  case stop
  /// Ends the thread permanently.
  case quit
}

/// The part of an engine that may block: a thread that opens devices, runs sessions on them and
/// executes the orders of other threads. The values it publishes may be read on any thread.
final class EngineWorker: Sendable {
  private struct State {
    var orders: [EngineOrder] = []
    var status = EngineStatus()
    var lastReport: SessionReport?
    var selection: DeviceSelection
    /// The callbacks to call once this run has started.
    var waitingForStart: [EngineOrder.Reply] = []
    var waitingForStop: [@Sendable (SessionReport?) -> Void] = []

    /// Whether a start was accepted whose run is not over yet.
    var isInRun = false
    /// The number of starts ordered so far, without those that joined an earlier one.
    var startCount = 0

    /// The index of the ordered start; no stop follows it.
    var orderedStart: Int? { orders.firstIndex(where: \.isStart) }

    /// Whether the engine runs, or will run without a stop before.
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

  /// Queues `order`. If `start` is given, this happens only if no later start was ordered than the
  /// one with that number.
  func order(_ order: EngineOrder, onlyOfStart start: Int? = nil) {
    var refused: [EngineOrder.Reply] = []
    var stopped: [@Sendable (SessionReport?) -> Void] = []
    let lastReport = state.withLock { state -> SessionReport? in
      if let start, start != state.startCount { return nil }
      defer { state.orders.append(order) }
      guard order.isStop else { return nil }
      // A start that was not accepted yet is dropped, and a start requested from now on is a new
      // one.
      state.status.phase = state.isInRun ? .stopping : .stopped
      if let index = state.orderedStart,
        case .start(_, let replies) = state.orders.remove(at: index)
      {
        refused = replies
      }
      // No run will end that would call them.
      if !state.isInRun { swap(&stopped, &state.waitingForStop) }
      return state.lastReport
    }
    for reply in refused { reply(.failure(.stopped)) }
    for tell in stopped { tell(lastReport) }
    state.announce()
  }

  /// Starts the engine if it does not run, and calls `reply` once audio runs. If a stop is in
  /// progress, the engine starts again after it. If `seconds` is given, the engine must not run
  /// yet. Returns the number of the start; nil if none was ordered.
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

  /// Calls `tell` with the report of the run when the engine no longer runs: nil if it never ran.
  func whenStopped(_ tell: @escaping @Sendable (SessionReport?) -> Void) {
    let isStopped = state.withLock { state -> Bool in
      let isStopped = state.status.phase == .stopped
      if !isStopped { state.waitingForStop.append(tell) }
      return isStopped
    }
    if isStopped { tell(state.withLock { $0.lastReport }) }
  }

  /// The files that are played, or read by simulated microphones: none of them may be recorded to.
  var inputs: Set<FileIdentity> {
    let simulated = selection.deviceNames.compactMap {
      try? SimulatedDeviceSpecification(parsing: $0)
    }
    let heard = simulated.compactMap(\.microphonePath).compactMap { FileIdentity(of: $0) }
    return player.files.union(heard)
  }

  // MARK: Its own thread

  /// Executes orders until the order to quit.
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

  /// Returns the orders since the last call, in order. An order to quit is not removed.
  func takeOrders() -> [EngineOrder] {
    state.withLock { state in
      // A start that follows a stop is left to the next run.
      let count = state.orders.firstIndex { $0.isForTheNextRun } ?? state.orders.count
      defer { state.orders.removeFirst(count) }
      return Array(state.orders.prefix(count))
    }
  }

  /// Whether the thread must end.
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

  /// Reports that audio runs on these devices.
  func noteRunning(_ configuration: DuplexConfiguration, _ selection: DeviceSelection) {
    let waiting = state.withLock { state in
      state.selection = selection
      defer { state.waitingForStart = [] }
      return state.waitingForStart
    }
    publish { status in
      // A stop may have been requested in the meantime.
      if status.phase != .stopping { status.phase = .running }
      status.configuration = configuration
      status.sampleRate = configuration.sampleRate
    }
    events.send(.running(configuration))
    for reply in waiting { reply(.success(configuration)) }
  }

  /// Reports that the engine no longer runs; `failure` is the reason if it never ran.
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

import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import LatencyMeasurement
import RealtimeAudio
import SimulatedDevices

/// A request to an engine from another thread.
enum EngineRequest: Sendable {
  /// A callback that receives the granted configuration, or the failure.
  typealias StartCompletion = @Sendable (Result<DuplexConfiguration, EngineFailure>) -> Void
  /// A callback that receives the round trip, or the failure.
  typealias MeasureCompletion = @Sendable (Result<RoundTripMeasurement, EngineFailure>) -> Void
  /// A callback that receives success or the failure.
  typealias RecordCompletion = @Sendable (Result<Void, EngineFailure>) -> Void

  /// Runs for `seconds` of the timeline, or until it is stopped if that is nil. The replies are
  /// called once the engine runs.
  case start(seconds: Double?, [StartCompletion])
  /// Measures the round trip of the devices. The flag is raised when the result is no longer
  /// wanted.
  case measure(RoundTripSettings, isCancelled: AtomicFlag, MeasureCompletion)
  /// Continues with other devices. The reply receives nil if the engine does not run.
  case change(DeviceSelection, DeviceChange.Reply)
  /// Begins a recording.
  case record(EngineRecording, RecordCompletion)
  /// Ends a recording.
  case endRecording(EngineRecording)
  /// Ends the run.
  case stop
  /// Ends the thread permanently.
  case quit
}

/// The part of an engine that may block: a thread that opens devices, runs sessions on them and
/// executes the requests of other threads. The values it publishes may be read on any thread.
final class EngineWorker: Sendable {
  /// A callback that receives the report of the last run; nil if none ever ran.
  typealias StopCompletion = @Sendable (SessionReport?) -> Void

  private struct State {
    var requests: [EngineRequest] = []
    var status = EngineStatus()
    var lastReport: SessionReport?
    var selection: DeviceSelection
    /// The callbacks to call once this run has started.
    var waitingForStart: [EngineRequest.StartCompletion] = []
    var waitingForStop: [StopCompletion] = []

    /// Whether a start was accepted whose run is not over yet.
    var isInRun = false
    /// Whether a measurement was ordered that is not over yet. No run begins during it.
    var isMeasuring = false
    /// The number of starts ordered so far, without those that joined an earlier one.
    var startCount = 0
    /// Whether the thread has ended, or will never begin: no request is executed any more.
    var isConcluded = false

    /// Whether a run or a measurement follows.
    var hasOrder: Bool { requests.contains { $0.isStart || $0.isMeasurement } }

    /// The index of the ordered start; no stop follows it.
    var requestedStart: Int? { requests.firstIndex(where: \.isStart) }

    /// Whether the engine runs, or will run without a stop before.
    var isUnderWay: Bool { requestedStart != nil || isActive }

    /// Whether the engine runs or begins to, and no stop was requested.
    var isActive: Bool { status.phase == .running || status.phase == .starting }
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

  /// Queues `request`. If `start` is given, this happens only if no later start was requested than
  /// the one with that number. The completion of a stop is called after the run that it ends.
  func request(
    _ request: EngineRequest, onlyOfStart start: Int? = nil, _ completion: StopCompletion? = nil
  ) {
    var refused: [EngineRequest] = []
    var stopped: [StopCompletion] = []
    let lastReport = state.withLock { state -> SessionReport? in
      if let start, start != state.startCount { return nil }
      // A queued request would keep its recording forever, which keeps this object.
      guard !state.isConcluded else {
        refused = [request]
        if let completion { stopped = [completion] }
        return state.lastReport
      }
      defer { state.requests.append(request) }
      guard request.isStop else { return nil }
      // Registered together with the stop, so that it does not wait for a run that follows.
      if let completion { state.waitingForStop.append(completion) }
      // A start that was not accepted yet is dropped, and a start requested from now on is a new
      // one.
      state.status.phase = state.isInRun ? .stopping : .stopped
      if let index = state.requestedStart { refused = [state.requests.remove(at: index)] }
      // No run will end that would call them.
      if !state.isInRun { swap(&stopped, &state.waitingForStop) }
      return state.lastReport
    }
    for request in refused { request.refuse() }
    for completion in stopped { completion(lastReport) }
    state.notifyAll()
  }

  /// Starts the engine if it does not run, and calls `reply` once audio runs. If a stop is in
  /// progress, the engine starts again after it. If `seconds` is given, the engine must not run
  /// yet. Returns the number of the start; nil if none was ordered.
  @discardableResult
  func start(seconds: Double?, _ reply: @escaping EngineRequest.StartCompletion) -> Int? {
    var number: Int?
    let answer = state.withLock { state -> Result<DuplexConfiguration, EngineFailure>? in
      if seconds != nil, state.isUnderWay { return .failure(.alreadyRunning) }
      if let index = state.requestedStart,
        case .start(let seconds, let replies) = state.requests[index]
      {
        state.requests[index] = .start(seconds: seconds, replies + [reply])
        return nil
      }
      if state.isMeasuring, state.isActive { return .failure(.alreadyRunning) }
      switch state.status.phase {
      case .running: return state.status.configuration.map { .success($0) }
      case .starting: state.waitingForStart.append(reply)
      case .stopped, .stopping:
        state.requests.append(.start(seconds: seconds, [reply]))
        state.startCount += 1
        number = state.startCount
        if state.status.phase == .stopped { state.status.phase = .starting }
      }
      return nil
    }
    if let answer { reply(answer) }
    state.notifyAll()
    return number
  }

  /// Measures the round trip if the engine does not run, after the end of a run that was stopped,
  /// and calls `reply` with the result.
  func measure(
    _ settings: RoundTripSettings, isCancelled: AtomicFlag,
    _ reply: @escaping EngineRequest.MeasureCompletion
  ) {
    let failure = state.withLock { state -> EngineFailure? in
      if state.isConcluded { return .stopped }
      if state.isUnderWay || state.isMeasuring { return .alreadyRunning }
      state.requests.append(.measure(settings, isCancelled: isCancelled, reply))
      state.isMeasuring = true
      if state.status.phase == .stopped { state.status.phase = .starting }
      return nil
    }
    if let failure { reply(.failure(failure)) }
    state.notifyAll()
  }

  /// Ends the run, and calls `completion` when it is over, even if another start follows at once.
  func stop(_ completion: @escaping StopCompletion) { request(.stop, completion) }

  /// Calls `completion` when the engine no longer runs.
  func whenStopped(_ completion: @escaping StopCompletion) {
    let (isStopped, lastReport) = state.withLock { state in
      let isStopped = state.status.phase == .stopped
      if !isStopped { state.waitingForStop.append(completion) }
      return (isStopped, state.lastReport)
    }
    if isStopped { completion(lastReport) }
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

  /// Executes requests until the request to quit.
  func main() {
    var pending: [EngineRecording] = []
    while true {
      let request = state.wait { state -> EngineRequest? in
        guard !state.requests.isEmpty else { return nil }
        let request = state.requests.removeFirst()
        if case .start(_, let replies) = request {
          state.isInRun = true
          state.waitingForStart += replies
          state.status.phase = .starting
        }
        if case .measure = request {
          state.isInRun = true
          state.status.phase = .starting
        }
        return request
      }
      switch request {
      case .quit:
        for recording in pending { recording.complete(RecordingReport()) }
        conclude()
        return
      case .start(let seconds, _):
        publish { $0.beginRun() }
        pending = EngineRun(self).run(seconds: seconds, pending)
      case .measure(let settings, let isCancelled, let reply):
        publish { $0.beginRun() }
        reply(EngineMeasurement(self, isCancelled).run(settings))
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

  /// Refuses all requests, now and later, and ends the streams of events and statuses. Called when
  /// the thread ends, or on any thread if there is none.
  func conclude() {
    let late = state.withLock { state in
      state.isConcluded = true
      defer { state.requests = [] }
      return state.requests
    }
    for request in late { request.refuse() }
    events.finish()
    statuses.finish()
  }

  /// Returns the requests since the last call, in order. A request to quit is not removed.
  func takeRequests() -> [EngineRequest] {
    state.withLock { state in
      // A start that follows a stop is left to the next run.
      let count = state.requests.firstIndex { $0.belongsToNextRun } ?? state.requests.count
      defer { state.requests.removeFirst(count) }
      return Array(state.requests.prefix(count))
    }
  }

  /// Whether a measurement must end: a stop was requested, or the thread must end.
  var isStopRequested: Bool {
    state.withLock { $0.requests.contains(where: \.isStop) } || isQuitting
  }

  /// Whether the thread must end.
  var isQuitting: Bool {
    state.withLock { $0.requests.contains { if case .quit = $0 { true } else { false } } }
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
      state.isMeasuring = state.requests.contains(where: \.isMeasurement)
      state.status.phase = state.hasOrder ? .starting : .stopped
      defer { (state.waitingForStop, state.waitingForStart) = ([], []) }
      return (state.waitingForStop, state.waitingForStart)
    }
    statuses.send(status)
    events.send(.stopped(report))
    for reply in started { reply(.failure(failure ?? .stopped)) }
    for completion in stopped { completion(report) }
  }
}

extension EngineRequest {
  /// Replies that the request came too late.
  func refuse() {
    switch self {
    case .start(_, let replies): for reply in replies { reply(.failure(.stopped)) }
    case .measure(_, _, let reply): reply(.failure(.stopped))
    case .change(_, let reply): reply(.failure(.stopped))
    case .record(_, let answer): answer(.failure(.stopped))
    case .endRecording(let recording): recording.complete(recording.report ?? RecordingReport())
    case .stop, .quit: break
    }
  }

  fileprivate var isStop: Bool { if case .stop = self { true } else { false } }
  fileprivate var isStart: Bool { if case .start = self { true } else { false } }
  fileprivate var isMeasurement: Bool { if case .measure = self { true } else { false } }

  fileprivate var belongsToNextRun: Bool {
    switch self {
    case .start, .measure, .quit: true
    case .change, .record, .endRecording, .stop: false
    }
  }
}

import AudioDevices
import RealtimeAudio

/// A session ready to run: a device, its callbacks, and the background work that waits for disks.
///
/// The session runs on the thread that calls `run`. That thread watches while the audio thread
/// works; in virtual time it does everything itself, in a reproducible order.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free"))
/// let mixer = Mixer(opened.configuration)
/// let runner = SessionRunner(
///   device: opened.device, callbacks: mixer, background: opened.background, meter: nil,
///   frameLimit: nil)
/// let report = try runner.run(clock: opened.clock) { snapshot, _ in
///   snapshot.frames < 48000 ? .proceed : .stop(.end)
/// }
/// precondition(report.frames >= 48000)
/// ```
public struct SessionRunner<Callbacks: SessionCallbacks & ~Copyable>: ~Copyable {
  /// A callback for the progress of the session, called at least ten times per second of the
  /// session's time on the calling thread. In real time it is called 100 times per second; if it
  /// blocks itself, to wait for signals or keys, it is called again as soon as it returns.
  public typealias Watch = (SessionSnapshot, GrantedPriority?) -> SessionCommand

  private typealias Audio = RealtimeThread<AudioThread<Callbacks>>

  private var unit: DuplexUnit<Callbacks>
  private var observer: SessionObserver
  private let reconnects: Bool
  /// The clock of a session in real time, by which stalls and timeouts are measured.
  var time = SessionTime()

  /// Creates a session of `callbacks` on `device`. The session ends after `frameLimit` frames, when
  /// `watch` stops it, or when the device goes away, unless it `reconnects` and therefore waits for
  /// the device. The playback has `fadeFrames` frames to fade out when an end is requested. A
  /// timeline that another device began continues at `resuming`, the end of that device's last
  /// cycle.
  public init(
    device: consuming DuplexDevice, callbacks: consuming Callbacks,
    background: [any BackgroundWork] = [], meter: consuming MeterView? = nil,
    frameLimit: Int? = nil, fadeFrames: Int = 0, reconnects: Bool = false,
    resuming: CycleTime? = nil
  ) {
    let configuration = device.configuration
    let delay = callbacks.outputDelayFrames
    let progress = UnitProgress()
    let events = EventWriter<TimelineEvent>()
    let eventReader = events.makeReader()
    unit = DuplexUnit(
      device: device, callbacks: callbacks, progress: progress, events: events,
      frameLimit: frameLimit,
      fadeFrames: fadeFrames, reconnects: reconnects, resuming: resuming)
    observer = SessionObserver(
      progress, events: eventReader, meter: meter, configuration, background: background,
      frameLimit: frameLimit, callbackDelayFrames: delay)
    self.reconnects = reconnects
  }

  /// Creates the same session on the device of `driver`.
  public init<Driver: DuplexDriver & ~Copyable>(
    device driver: consuming Driver, callbacks: consuming Callbacks,
    background: [any BackgroundWork] = [], meter: consuming MeterView? = nil,
    frameLimit: Int? = nil, fadeFrames: Int = 0, reconnects: Bool = false
  ) {
    self.init(
      device: DuplexDevice(driver), callbacks: callbacks, background: background, meter: meter,
      frameLimit: frameLimit, fadeFrames: fadeFrames, reconnects: reconnects)
  }

  /// Runs the session to its end, and returns when everything is finalised: the device is stopped
  /// and the last recorded frame is saved. Throws if the device does not start, and, before
  /// anything has begun, if the callbacks do not fit it.
  public consuming func run(clock: SessionClock, watch: Watch) throws(DeviceFailure)
    -> SessionReport
  {
    try unit.callbacks.check(observer.configuration)
    switch clock {
    case .virtual: return try runVirtually(watch)
    case .real(let priority): return try runThreaded(priority, watch)
    }
  }

  private consuming func runVirtually(_ watch: Watch) throws(DeviceFailure) -> SessionReport {
    var schedule = VirtualSchedule(observer.configuration, observer.background)
    var reason: StopReason?
    do throws(DeviceFailure) {
      try unit.start()
    } catch {
      unit.callbacks.finish()
      for work in observer.background { work.abandon() }
      throw error
    }
    while reason == nil {
      schedule.step(at: observer.progress.frames)
      if schedule.takeWatch(at: observer.progress.frames) { reason = observer.poll(watch) }
      while reason == nil, schedule.isTimeHeld {
        reason = observer.poll(watch)
        HostClock.pause(milliseconds: 2)
        schedule.step()
      }
      guard reason == nil else { break }
      if schedule.isWatchDueAtOnce { continue }
      switch unit.cycle() {
      case .ran, .waiting: continue
      case .recovered:
        // In a series of gaps no frame advances either. After a gap, work that reads frames by
        // their position is far behind.
        schedule.step()
        reason = observer.poll(watch)
      case .away:
        // No frame advances that would lead to the next call. Virtual time continues in this
        // state, and the pause relieves the processor.
        schedule.stepInAbsence()
        reason = observer.poll(watch)
        HostClock.pause(milliseconds: 1)
      case .finished: reason = observer.ownEnd
      case .failed(let failure): reason = .device(failure)
      }
    }
    // The captured data are saved, whether or not the device can be stopped.
    unit.callbacks.finish()
    // The user may request an immediate end.
    schedule.finish { _ = observer.poll(watch) }
    unit.stop(draining: true)
    _ = observer.poll(watch)
    return observer.conclude(reason ?? .end)
  }

  private consuming func runThreaded(_ priority: ThreadPriority, _ watch: Watch)
    throws(DeviceFailure) -> SessionReport
  {
    // A closure cannot use the observer of a value whose unit has moved to its thread.
    var observer = self.observer
    let early = try Self.prepare(&observer, watch, time)
    // Nothing has begun, so there is nothing to save.
    if let early, early.isStuck {
      return observer.conclude(early.reason)
    }
    var threads: [BackgroundThread] = []
    let ended = AtomicFlag()
    let thread: Audio
    do throws(DeviceFailure) {
      for work in observer.background { threads.append(try BackgroundThread(work)) }
      thread = try Self.started(AudioThread(unit: unit, ended: ended), priority)
    } catch {
      // Releasing a thread waits for its work, which nothing else would end.
      for work in observer.background { work.abandon() }
      throw error
    }
    let granted = thread.granted
    if early != nil { observer.progress.requestStop() }
    let watchdog = AudioThreadWatchdog(reconnects: reconnects, at: time.now())
    let requested = Self.observe(
      thread, &observer, watchdog, until: ended, requested: early?.reason, watch, time)
    var failure: DeviceFailure?
    var closing: DeviceClosing<Callbacks>?
    if ended.isRaised {
      (failure, closing) = Self.close(thread, observer, requested, time)
    } else {
      // The thread keeps its work.
      thread.abandon()
      observer.noteStuckDevice()
      if requested == nil { failure = observer.stuckFailure(seconds: watchdog.limitSeconds) }
      for work in observer.background { work.abandon() }
    }
    Self.awaitEnd(
      of: threads, observer.background, closing, isUrgent: requested?.isUserRequest == true, time
    ) {
      observer.poll(watch, granted)
    }
    if closing?.end() == false { observer.noteStuckDevice() }
    for thread in threads { thread.isDone ? thread.join() : thread.abandon() }
    if !ended.isRaised { observer.noteStuckThread() }
    _ = observer.poll(watch, granted)
    if let failure, !observer.progress.isStarted { throw failure }
    let reason = failure.map { StopReason.device($0) } ?? requested ?? observer.ownEnd
    return observer.conclude(reason, granted)
  }

  /// Ends the recordings of an audio thread that has ended, and starts to close its device. Returns
  /// the failure of the thread; nil if there is none.
  private static func close(
    _ thread: consuming Audio, _ observer: borrowing SessionObserver, _ requested: StopReason?,
    _ time: SessionTime
  ) -> (DeviceFailure?, DeviceClosing<Callbacks>) {
    var work = thread.join()
    let failure = work.failure
    work.unit.callbacks.finish()
    for work in observer.background { work.conclude() }
    let closing = DeviceClosing(
      work.takeUnit(), draining: failure == nil && !leavesQueue(observer.configuration, requested),
      isUrgent: requested != nil, time)
    return (failure, closing)
  }

  /// Calls `watch` until the audio thread has `ended`, or has not returned from a call in time.
  /// Requests the end of the thread once `watch` stops the session. Returns the reason: `earlier`
  /// if the end was requested before; nil if it was not requested.
  private static func observe(
    _ thread: borrowing Audio, _ observer: inout SessionObserver, _ watchdog: AudioThreadWatchdog,
    until ended: AtomicFlag, requested earlier: StopReason?, _ watch: Watch, _ time: SessionTime
  ) -> StopReason? {
    var (watchdog, requested) = (watchdog, earlier)
    var now = time.now()
    var (cycles, movedAt) = (-1, now)
    var pace = WatchInterval()
    while !ended.isRaised,
      watchdog.isInTime(observer.progress.turns, isEnding: requested != nil, at: now)
    {
      // A thread that waits for a stalled device would sleep forever and never see a stop.
      if observer.progress.cycles == cycles { thread.interrupt() } else { movedAt = now }
      cycles = observer.progress.cycles
      // This is measured before the watcher is called, which may be blocked while it writes its
      // output.
      let stalled = observer.progress.isInCallback ? 0 : now &- movedAt
      pace.begin(at: now)
      if let reason = observer.poll(watch, thread.granted), requested == nil {
        requested = reason
        if observer.progress.isStarted, reason.isUserRequest {
          observer.noteStall(nanoseconds: stalled)
        }
        observer.progress.requestStop()
      }
      pace.rest(time, unless: { ended.isRaised })
      now = time.now()
    }
    return requested
  }

  /// Waits until the device is closed and all work is done, or until the timeout. A stalled disk
  /// takes time, and a second signal, which `poll` returns, must still be received in this time.
  private static func awaitEnd(
    of threads: [BackgroundThread], _ background: [any BackgroundWork],
    _ closing: DeviceClosing<Callbacks>?, isUrgent: Bool, _ time: SessionTime,
    poll: () -> StopReason?
  ) {
    var timeout = EndTimeout(isUrgent: isUrgent, at: time.now())
    func isOver() -> Bool {
      closing?.isOver != false
        && zip(threads, background).allSatisfy { thread, work in
          thread.isDone || (work.workState == .dispensable && timeout.isOver(at: time.now()))
        }
    }
    for _ in 0..<100 where !isOver() { time.pause(1) }
    var pace = WatchInterval()
    while !isOver() {
      pace.begin(at: time.now())
      if poll()?.isUserRequest == true {
        closing?.shorten()
        timeout.shorten(at: time.now())
      }
      pace.rest(time, unless: isOver)
    }
  }

  /// Fills the buffers of the playback before the first period needs them. The user may request an
  /// end in this time: a network can be slow.
  private static func prepare(
    _ observer: inout SessionObserver, _ watch: Watch, _ time: SessionTime
  ) throws(DeviceFailure) -> (reason: StopReason, isStuck: Bool)? {
    let first = try BackgroundThread(FirstSteps(of: observer.background))
    for _ in 0..<100 where !first.isDone { time.pause(2) }
    var pace = WatchInterval()
    while !first.isDone {
      pace.begin(at: time.now())
      guard let requested = observer.poll(watch) else {
        pace.rest(time, unless: { first.isDone })
        continue
      }
      for work in observer.background where work.workState == .dispensable { work.conclude() }
      // A disk or a decoder may block this thread forever.
      let timeout = EndTimeout(isUrgent: true, at: time.now())
      while !first.isDone, !timeout.isOver(at: time.now()) { time.pause(2) }
      guard first.isDone else {
        first.abandon()
        return (requested, true)
      }
      first.join()
      return (requested, false)
    }
    first.join()
    return nil
  }

  private static func started(
    _ work: consuming AudioThread<Callbacks>, _ priority: ThreadPriority
  ) throws(DeviceFailure) -> Audio {
    do throws(ThreadFailure) {
      return try RealtimeThread(name: "duplex-audio", priority: priority, work)
    } catch {
      throw DeviceFailure(error)
    }
  }

  /// Returns whether the queued frames are dropped: when the user ends a session that only plays, a
  /// sound server would continue to play for 1/3 s.
  private static func leavesQueue(_ configuration: DuplexConfiguration, _ requested: StopReason?)
    -> Bool
  {
    requested?.isUserRequest == true && configuration.capture == nil
      && configuration.playback?.isServer == true
  }
}

/// The first step of each work, in order.
private final class FirstSteps: BackgroundWork {
  private let works: [any BackgroundWork]

  init(of works: [any BackgroundWork]) {
    self.works = works
  }

  func step() -> Bool {
    for work in works { _ = work.step() }
    return false
  }

  func conclude() {}
}

/// The work of the audio thread, which carries a unit.
private struct AudioThread<Callbacks: SessionCallbacks & ~Copyable>: RealtimeWork, ~Copyable,
  @unchecked Sendable
{
  // @unchecked because the thread that creates it passes it to the one that runs it.
  var unit: DuplexUnit<Callbacks>
  private(set) var failure: DeviceFailure?
  let ended: AtomicFlag

  init(unit: consuming DuplexUnit<Callbacks>, ended: AtomicFlag) {
    self.unit = unit
    self.ended = ended
  }

  /// Returns the unit after the end of the thread.
  consuming func takeUnit() -> DuplexUnit<Callbacks> { unit }

  mutating func run() {
    do throws(DeviceFailure) {
      try unit.start()
      failure = unit.run()
    } catch {
      failure = error
    }
    ended.raise()
  }
}

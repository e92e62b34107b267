import RealtimeAudio

/// Measures wake-up delays in parallel with other work: once per millisecond, as with a period of
/// 48 frames at 48 kHz.
public final class WakeUpMeasurement {
  typealias Answer = Result<WakeUpSample, ThreadFailure>
  /// A function that starts the measured thread.
  typealias Start = @Sendable () throws(ThreadFailure) -> RealtimeThread<WakeUpLoop>

  private let answer: MutexBox<Answer?>
  private var thread: RealtimeThread<MeasurementSupervisor>?

  /// Starts the measurement. It takes one second, or longer if the system bus is slow to grant a
  /// priority. Throws a `ThreadFailure` if the thread that starts it cannot be created.
  public convenience init() throws(ThreadFailure) {
    try self.init { () throws(ThreadFailure) in
      try RealtimeThread(
        name: "duplex-audio", priority: .realtime(WakeUpSample.wantedPriority), WakeUpLoop())
    }
  }

  /// Starts the measurement of the thread that `start` starts.
  init(_ start: @escaping Start) throws(ThreadFailure) {
    let answer = MutexBox<Answer?>(nil)
    self.answer = answer
    thread = try RealtimeThread(
      name: "duplex-sample", priority: .normal, MeasurementSupervisor(start: start, answer: answer))
  }

  /// Waits for the sample and returns it; returns nil if it is not complete when the host clock
  /// reaches `nanoseconds`. The thread is then abandoned. Throws a `ThreadFailure` if the measured
  /// thread cannot be created.
  public func sample(until nanoseconds: UInt64) throws(ThreadFailure) -> WakeUpSample? {
    while HostClock.nanoseconds < nanoseconds {
      if let answer = answer.withLock({ $0 }) {
        if let thread = thread.take() { _ = thread.join() }
        return try answer.get()
      }
      HostClock.pause(milliseconds: 10)
    }
    if let thread = thread.take() { thread.abandon() }
    return nil
  }

  /// Waits until the measuring thread has its priority, which an unresponsive bus may delay.
  private struct MeasurementSupervisor: RealtimeWork, ~Copyable, Sendable {
    let start: Start
    let answer: MutexBox<Answer?>

    mutating func run() {
      do throws(ThreadFailure) {
        let thread = try start()
        let granted = thread.granted
        let late = thread.join().late
        answer.withLock { $0 = .success(WakeUpSample(granted: granted, late: late)) }
      } catch {
        answer.withLock { [error] in $0 = .failure(error) }
      }
    }
  }

  /// Sleeps repeatedly and measures the delays.
  struct WakeUpLoop: RealtimeWork, ~Copyable, Sendable {
    private(set) var late = [Double](repeating: 0, count: 1000)

    mutating func run() {
      var time = HostClock.nanoseconds
      for index in late.indices {
        time += 1_000_000
        HostClock.sleep(until: time)
        let now = HostClock.nanoseconds
        late[index] = Double(now - min(now, time)) / 1000
        // Missed wake-ups are skipped, not made up for at once.
        time = max(time, now)
      }
    }
  }
}

/// The wake-up delays of a thread that repeatedly slept until a given time.
public struct WakeUpSample: Sendable, Equatable {
  /// The priority that the audio thread requests.
  static let wantedPriority = 70

  /// The priority that the thread was granted.
  public var granted: GrantedPriority
  /// The number of wake-ups.
  public var count: Int
  /// The average delay.
  public var meanMicroseconds: Double
  /// The delay that 99 of 100 wake-ups did not exceed.
  public var percentile99Microseconds: Double
  /// The longest delay.
  public var worstMicroseconds: Double

  /// Creates a sample from the delays `late`, in microseconds, of a measurement or of a test.
  public init(granted: GrantedPriority, late: [Double]) {
    let sorted = late.sorted()
    self.granted = granted
    count = sorted.count
    meanMicroseconds = sorted.reduce(0, +) / Double(max(1, sorted.count))
    percentile99Microseconds =
      sorted.isEmpty ? 0 : sorted[max(0, (sorted.count * 99 + 99) / 100 - 1)]
    worstMicroseconds = sorted.last ?? 0
  }
}

import RealtimeAudio

/// Takes a sample of wake-ups beside other work: once a millisecond, as a period of 48 frames
/// would.
public final class WakeUpMeasurement {
  private let result: MutexBox<WakeUpSample?>
  private var thread: RealtimeThread<Asking>?

  /// Starts it. It takes a second; longer where the system bus is slow to grant a priority.
  public init() throws(ThreadFailure) {
    let result = MutexBox<WakeUpSample?>(nil)
    self.result = result
    thread = try RealtimeThread(name: "duplex-sample", priority: .normal, Asking(result: result))
  }

  /// The sample, once it is there; nil where it is not by `nanoseconds` of the host's clock. Then
  /// the thread is left to itself.
  public func sample(until nanoseconds: UInt64) -> WakeUpSample? {
    while HostClock.nanoseconds < nanoseconds {
      if let sample = result.withLock({ $0 }) {
        if let thread = thread.take() { _ = thread.join() }
        return sample
      }
      HostClock.pause(milliseconds: 10)
    }
    if let thread = thread.take() { thread.abandon() }
    return nil
  }

  /// Waits for the other thread's priority, which a stuck bus may hold up.
  private struct Asking: RealtimeWork, ~Copyable, Sendable {
    let result: MutexBox<WakeUpSample?>

    mutating func run() {
      let wanted = ThreadPriority.realtime(WakeUpSample.wantedPriority)
      guard let thread = try? RealtimeThread(name: "duplex-audio", priority: wanted, Sleeping())
      else { return }
      let granted = thread.granted
      let late = thread.join().late
      result.withLock { $0 = WakeUpSample(granted: granted, late: late) }
    }
  }

  /// Sleeps and looks at the clock.
  private struct Sleeping: RealtimeWork, ~Copyable, Sendable {
    private(set) var late = [Double](repeating: 0, count: 1000)

    mutating func run() {
      var time = HostClock.nanoseconds
      for index in late.indices {
        time += 1_000_000
        HostClock.sleep(until: time)
        let now = HostClock.nanoseconds
        late[index] = Double(now - min(now, time)) / 1000
        // What was missed is not made up for in one go.
        time = max(time, now)
      }
    }
  }
}

/// The wake-up delays of a thread that slept until a given time, again and again.
public struct WakeUpSample: Sendable, Equatable {
  /// The priority the audio thread asks for.
  static let wantedPriority = 70

  /// What the thread was given.
  public var granted: GrantedPriority
  /// Times it was woken up.
  public var count: Int
  /// How late it was on average.
  public var meanMicroseconds: Double
  /// 99 of 100 were not later than that.
  public var mostMicroseconds: Double
  /// The latest.
  public var worstMicroseconds: Double

  /// Of a sample that was taken, or one that might have been. `late` are delays in microseconds.
  public init(granted: GrantedPriority, late: [Double]) {
    let sorted = late.sorted()
    self.granted = granted
    count = sorted.count
    meanMicroseconds = sorted.reduce(0, +) / Double(max(1, sorted.count))
    mostMicroseconds = sorted.isEmpty ? 0 : sorted[max(0, (sorted.count * 99 + 99) / 100 - 1)]
    worstMicroseconds = sorted.last ?? 0
  }
}

// Audio thread.
import RealtimeAudio
import Synchronization

/// The figures that a unit publishes. Only the thread that has the unit stores them: the one that
/// creates it, the one that starts it, and while it runs the audio thread. Any thread stores
/// `stopRequested`, and `returning` has a lock: a driver's search for its device stores it as well,
/// and the reader empties it. Each figure is independent of the others, so relaxed order is enough.
struct UnitFigures: ~Copyable {
  let frames = Atomic<Int>(0)
  let captureXruns = Atomic<Int>(0)
  let playbackXruns = Atomic<Int>(0)
  let lostFrames = Atomic<Int>(0)
  let nanCount = Atomic<Int>(0)
  let reportedLatencyFrames = Atomic<Int>(0)
  let cycles = Atomic<Int>(0)
  let turns = Atomic<Int>(0)
  let isInCallback = Atomic<Bool>(false)
  let busyNanoseconds = Atomic<UInt64>(0)
  let busiestNanoseconds = Atomic<UInt64>(0)
  /// Whether there are two clocks, and the drift between them.
  let hasDrift = Atomic<Bool>(false)
  let drift = DriftFigures()
  /// The number of secondary outputs, and the figures of each.
  let secondaryCount = Atomic<Int>(0)
  let secondaryOutputs: UnsafeMutablePointer<SecondaryOutputFigures>
  let isStarted = Atomic<Bool>(false)
  let stopRequested = Atomic<Bool>(false)
  /// The last result of the search for a device that went away. The audio thread writes it only
  /// while no audio is transferred.
  let returning = MutexBox<DeviceReturn?>(nil)

  init() {
    secondaryOutputs = .allocate(capacity: SecondaryOutput.maximumOutputs)
    for index in 0..<SecondaryOutput.maximumOutputs {
      (secondaryOutputs + index).initialize(to: SecondaryOutputFigures())
    }
  }

  deinit {
    secondaryOutputs.deinitialize(count: SecondaryOutput.maximumOutputs)
    secondaryOutputs.deallocate()
  }

  /// Publishes the figures of a secondary output.
  @_noLocks
  func publish(_ reading: SecondaryOutputReading, of index: Int) {
    secondaryOutputs[index].drift.publish(reading.drift)
    secondaryOutputs[index].xruns.store(reading.xruns, ordering: .relaxed)
  }
}

/// The number of a unit's cycles, and the time spent in them.
struct CycleLoad: BitwiseCopyable {
  private var cycleCount = 0
  private var busyNanoseconds: UInt64 = 0
  private var busiestNanoseconds: UInt64 = 0

  /// Adds a cycle that took `nanoseconds`, and publishes the load.
  @_noLocks
  mutating func add(_ nanoseconds: UInt64, to figures: borrowing UnitFigures) {
    cycleCount &+= 1
    busyNanoseconds &+= nanoseconds
    busiestNanoseconds = max(busiestNanoseconds, nanoseconds)
    figures.cycles.store(cycleCount, ordering: .relaxed)
    figures.busyNanoseconds.store(busyNanoseconds, ordering: .relaxed)
    figures.busiestNanoseconds.store(busiestNanoseconds, ordering: .relaxed)
  }
}

/// The figures of a secondary output.
struct SecondaryOutputFigures: ~Copyable {
  let drift = DriftFigures()
  let xruns = Atomic<Int>(0)
}

/// The figures of a `DriftReading` as atomics. Real numbers are stored as their bits.
struct DriftFigures: ~Copyable {
  private let ppm = Atomic<UInt64>(0)
  private let errorFrames = Atomic<UInt64>(0)
  private let relocks = Atomic<Int>(0)
  private let addedFrames = Atomic<Int>(0)
  private let mutedFrames = Atomic<Int>(0)

  @_noLocks
  func publish(_ reading: DriftReading) {
    ppm.store(reading.ppm.bitPattern, ordering: .relaxed)
    errorFrames.store(reading.errorFrames.bitPattern, ordering: .relaxed)
    relocks.store(reading.relocks, ordering: .relaxed)
    addedFrames.store(reading.addedFrames, ordering: .relaxed)
    mutedFrames.store(reading.mutedFrames, ordering: .relaxed)
  }

  var reading: DriftReading {
    @_noLocks get {
      var reading = DriftReading(
        ppm: Double(bitPattern: ppm.load(ordering: .relaxed)),
        errorFrames: Double(bitPattern: errorFrames.load(ordering: .relaxed)),
        relocks: relocks.load(ordering: .relaxed))
      reading.addedFrames = addedFrames.load(ordering: .relaxed)
      reading.mutedFrames = mutedFrames.load(ordering: .relaxed)
      return reading
    }
  }
}

/// The progress of a unit, which any thread can read while the unit runs, and its stop request.
///
/// ```swift
/// let progress = UnitProgress()
/// precondition(progress.frames == 0 && progress.captureXruns == 0)
/// ```
public struct UnitProgress: ~Copyable, @unchecked Sendable {
  // @unchecked because the figures are atomics.
  private let shared: SharedState<UnitFigures>

  private var figures: UnsafeMutablePointer<UnitFigures> { shared.pointer }

  /// Creates the progress of a unit that has not started.
  public init() {
    shared = SharedState(UnitFigures())
  }

  /// Returns the shared figures for the unit that writes them.
  borrowing func share() -> SharedState<UnitFigures> {
    shared.share()
  }

  /// Whether the device was started.
  public var isStarted: Bool { figures.pointee.isStarted.load(ordering: .relaxed) }
  /// The position on the timeline at which the next cycle begins: the number of frames captured and
  /// lost so far.
  public var frames: Int { figures.pointee.frames.load(ordering: .relaxed) }
  /// The number of overruns of the input.
  public var captureXruns: Int { figures.pointee.captureXruns.load(ordering: .relaxed) }
  /// The number of underruns of the output.
  public var playbackXruns: Int { figures.pointee.playbackXruns.load(ordering: .relaxed) }
  /// The number of frames that were not captured, or were captured and not played.
  public var lostFrames: Int { figures.pointee.lostFrames.load(ordering: .relaxed) }
  /// The number of samples passed to the output that were not a number (NaN).
  public var nanCount: Int { figures.pointee.nanCount.load(ordering: .relaxed) }
  /// The number of frames from input to output as the driver counts them; 0 if it is not known.
  public var reportedLatencyFrames: Int {
    figures.pointee.reportedLatencyFrames.load(ordering: .relaxed)
  }
  /// The number of cycles run.
  public var cycles: Int { figures.pointee.cycles.load(ordering: .relaxed) }
  /// The number of times that the unit polled its device for the next cycle. If it does not
  /// increase, the unit is in a call that does not return.
  public var turns: Int { figures.pointee.turns.load(ordering: .relaxed) }
  /// Whether the unit has called its input or output callback, and the callback has not returned.
  public var isInCallback: Bool { figures.pointee.isInCallback.load(ordering: .relaxed) }
  /// The time spent in callbacks and conversion, in nanoseconds.
  public var busyNanoseconds: UInt64 { figures.pointee.busyNanoseconds.load(ordering: .relaxed) }
  /// The duration of the longest cycle, in nanoseconds.
  public var busiestNanoseconds: UInt64 {
    figures.pointee.busiestNanoseconds.load(ordering: .relaxed)
  }

  /// The drift between two clocks; nil if there is only one.
  public var drift: DriftReading? {
    figures.pointee.hasDrift.load(ordering: .relaxed) ? figures.pointee.drift.reading : nil
  }

  /// The drift and xruns of each secondary output, in order.
  public var secondaryOutputs: [SecondaryOutputReading] {
    (0..<figures.pointee.secondaryCount.load(ordering: .relaxed)).map { index in
      let figures = figures.pointee.secondaryOutputs + index
      return SecondaryOutputReading(
        drift: figures.pointee.drift.reading, xruns: figures.pointee.xruns.load(ordering: .relaxed))
    }
  }

  /// Returns the last result of the search for a device that went away, if it is new; otherwise
  /// nil.
  public func takeReturn() -> DeviceReturn? {
    figures.pointee.returning.withLock { found in
      defer { found = nil }
      return found
    }
  }

  /// Requests the end of the run: after the current cycle, or after the output has faded out.
  public func requestStop() {
    figures.pointee.stopRequested.store(true, ordering: .relaxed)
  }
}

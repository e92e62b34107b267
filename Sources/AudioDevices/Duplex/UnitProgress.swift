// Audio thread.
import RealtimeAudio
import Synchronization

/// The figures a running unit publishes. Only the audio thread stores them; each stands alone, so
/// relaxed order is enough.
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
  /// Whether there are two clocks, and how they are held together.
  let hasDrift = Atomic<Bool>(false)
  let drift = DriftFigures()
  /// How many secondary outputs there are, and the figures of each.
  let secondaryCount = Atomic<Int>(0)
  let secondaryOutputs: UnsafeMutablePointer<SecondaryOutputFigures>
  let isStarted = Atomic<Bool>(false)
  let stopRequested = Atomic<Bool>(false)
  /// Written while no sound moves.
  let returning = MutexBox<DeviceReturn?>(nil)

  init() {
    secondaryOutputs = .allocate(capacity: SecondaryOutput.mostOutputs)
    for index in 0..<SecondaryOutput.mostOutputs {
      (secondaryOutputs + index).initialize(to: SecondaryOutputFigures())
    }
  }

  deinit {
    secondaryOutputs.deinitialize(count: SecondaryOutput.mostOutputs)
    secondaryOutputs.deallocate()
  }

  /// Publishes how a secondary output does.
  @_noLocks
  func publish(_ reading: SecondaryOutputReading, of index: Int) {
    secondaryOutputs[index].drift.publish(reading.drift)
    secondaryOutputs[index].xruns.store(reading.xruns, ordering: .relaxed)
  }
}

/// The figures of a secondary output.
struct SecondaryOutputFigures: ~Copyable {
  let drift = DriftFigures()
  let xruns = Atomic<Int>(0)
}

/// The figures of a `DriftReading` as atomics, real numbers as their bits.
struct DriftFigures: ~Copyable {
  private let ppm = Atomic<UInt64>(0)
  private let errorFrames = Atomic<UInt64>(0)
  private let relocks = Atomic<Int>(0)
  private let addedFrames = Atomic<Int>(0)

  @_noLocks
  func publish(_ reading: DriftReading) {
    ppm.store(reading.ppm.bitPattern, ordering: .relaxed)
    errorFrames.store(reading.errorFrames.bitPattern, ordering: .relaxed)
    relocks.store(reading.relocks, ordering: .relaxed)
    addedFrames.store(reading.addedFrames, ordering: .relaxed)
  }

  var reading: DriftReading {
    @_noLocks get {
      var reading = DriftReading(
        ppm: Double(bitPattern: ppm.load(ordering: .relaxed)),
        errorFrames: Double(bitPattern: errorFrames.load(ordering: .relaxed)),
        relocks: relocks.load(ordering: .relaxed))
      reading.addedFrames = addedFrames.load(ordering: .relaxed)
      return reading
    }
  }
}

/// The progress of a unit, to be read on any thread while it runs, and the switch that stops it.
///
/// ```swift
/// let progress = UnitProgress()
/// precondition(progress.frames == 0 && progress.captureXruns == 0)
/// ```
public struct UnitProgress: ~Copyable, @unchecked Sendable {
  // @unchecked because the figures are atomics.
  private let shared: SharedState<UnitFigures>

  private var figures: UnsafeMutablePointer<UnitFigures> { shared.pointer }

  /// The progress of a unit that has not started.
  public init() {
    shared = SharedState(UnitFigures())
  }

  /// The unit's end of it.
  borrowing func share() -> SharedState<UnitFigures> {
    shared.share()
  }

  /// Whether the device was started.
  public var isStarted: Bool { figures.pointee.isStarted.load(ordering: .relaxed) }
  /// Where the next cycle begins on the timeline: frames captured and lost so far.
  public var frames: Int { figures.pointee.frames.load(ordering: .relaxed) }
  /// Times the input overran.
  public var captureXruns: Int { figures.pointee.captureXruns.load(ordering: .relaxed) }
  /// Times the output ran dry.
  public var playbackXruns: Int { figures.pointee.playbackXruns.load(ordering: .relaxed) }
  /// Frames the timeline jumped over.
  public var lostFrames: Int { figures.pointee.lostFrames.load(ordering: .relaxed) }
  /// Samples handed to the output that were no number.
  public var nanCount: Int { figures.pointee.nanCount.load(ordering: .relaxed) }
  /// Frames from input to output as the driver itself counts them; 0 where it is not known.
  public var reportedLatencyFrames: Int {
    figures.pointee.reportedLatencyFrames.load(ordering: .relaxed)
  }
  /// Cycles run.
  public var cycles: Int { figures.pointee.cycles.load(ordering: .relaxed) }
  /// Times the unit asked its device for the next cycle: a unit whose turns do not become more is
  /// in a call that does not return.
  public var turns: Int { figures.pointee.turns.load(ordering: .relaxed) }
  /// Whether the unit has called its input or output callback, which has not returned.
  public var isInCallback: Bool { figures.pointee.isInCallback.load(ordering: .relaxed) }
  /// Time spent in callbacks and conversion, in nanoseconds.
  public var busyNanoseconds: UInt64 { figures.pointee.busyNanoseconds.load(ordering: .relaxed) }
  /// The longest cycle, in nanoseconds.
  public var busiestNanoseconds: UInt64 {
    figures.pointee.busiestNanoseconds.load(ordering: .relaxed)
  }

  /// The drift between two clocks; nil where there is only one.
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

  /// What was last found of a device that went away, where it is news: asked once, then nil.
  public func takeReturn() -> DeviceReturn? {
    figures.pointee.returning.withLock { found in
      defer { found = nil }
      return found
    }
  }

  /// Asks the unit to end: after the cycle it is in, or when what is heard has faded out.
  public func requestStop() {
    figures.pointee.stopRequested.store(true, ordering: .relaxed)
  }
}

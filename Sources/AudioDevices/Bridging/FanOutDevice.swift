// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// A duplex device whose output is also played on secondary outputs, such as speakers and
/// headphones.
///
/// Each secondary output has a separate clock, control loop and converter. The frames that the
/// device plays are copied to them in the same cycle, and the device never waits for them. Whatever
/// happens to them, the device behaves as it does alone. Without secondary outputs it is equivalent
/// to the device itself.
public struct FanOutDevice: DuplexDriver, ~Copyable {
  /// The function that the audio thread calls.
  public static let function: DriverFunction = callFanOut
  /// The configuration that was granted, with the secondary outputs.
  public private(set) var configuration: DuplexConfiguration

  private var base: DuplexDevice
  /// The feeds of the secondary outputs. They are accessed as `(feeds + index).pointee`, because
  /// Swift 6.3.1 fails to compile `feeds[index]` here for ThreadSanitizer.
  let feeds: UnsafeMutablePointer<SecondaryOutputFeed>
  private var count = 0
  private let quality: ConversionQuality
  private let returns = MutexBox<DeviceReturn?>(nil)
  private var played: SampleBuffer
  private var lent: DeviceFrames?
  /// The status of the device at the start of this cycle.
  private var cycle = DeviceStatus()
  /// The unit's clock, and the position on it of the next frame to be played, gaps included.
  private var clock: FilteredClock
  private var position = 0
  private var hasRestarted = false
  /// The epoch of the device's frame count to which `position` refers.
  private var epoch = -1

  /// Creates a device that acts like `base`; `resamplerQuality`, 0 to 10, is the quality of the
  /// secondary outputs that are added.
  public init(_ base: consuming DuplexDevice, resamplerQuality: Int) {
    let granted = base.configuration
    configuration = granted
    minimumGap = granted.sampleRate / 500
    quality = ConversionQuality(resamplerQuality: resamplerQuality)
    feeds = .allocate(capacity: SecondaryOutput.maximumOutputs)
    played = SampleBuffer(frameCount: 1, channelCount: 1)
    clock = FilteredClock(framesPerSecond: Double(granted.sampleRate))
    self.base = base
  }

  deinit {
    feeds.deinitialize(count: count)
    feeds.deallocate()
  }

  /// Adds a secondary output, which plays from the start on. Throws `.invalidRequest` if the device
  /// has no output, or there are already eight secondary outputs, and `.refused` if its thread
  /// cannot be started.
  public mutating func add(_ output: consuming DeviceStream) throws(DeviceFailure) {
    guard let playback = configuration.playback else {
      throw DeviceFailure(
        .invalidRequest, "Secondary outputs play what the output plays, and there is no output.",
        hint: "Name an output, or no secondary ones.", remedy: .removeSecondaryOutputs)
    }
    guard count < SecondaryOutput.maximumOutputs else {
      throw DeviceFailure(
        .invalidRequest,
        "No more than \(SecondaryOutput.maximumOutputs) secondary outputs can play.",
        hint: "Name fewer.", remedy: .removeSecondaryOutputs)
    }
    if count == 0 {
      played = SampleBuffer(
        frameCount: configuration.periodFrames, channelCount: playback.channelCount)
    }
    let feed = try SecondaryOutputFeed(
      output, configuration, quality: quality, reportingTo: returns)
    (feeds + count).initialize(to: feed)
    configuration.secondaryOutputs.append((feeds + count).pointee.stream)
    count += 1
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { base.now }
  }

  /// Starts all devices. Throws if the device or a secondary output does not start.
  public mutating func start() throws(DeviceFailure) {
    try base.start()
    for index in 0..<count { try (feeds + index).pointee.start(at: base.now) }
  }

  /// Sleeps until the next period is available. Secondary outputs whose clocks are noisy are read
  /// in between: if they were read only once a period, batches of about the same length would
  /// appear late, or in time, for seconds.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    wait(nanoseconds, &status)
    let isReady = if case .ready = status.readiness { true } else { false }
    if isReady { cycle = status }
    for index in 0..<count where (feeds + index).pointee.event != nil { status.hasEvents = true }
  }

  @_noLocks
  private mutating func wait(_ nanoseconds: UInt64, _ status: inout DeviceStatus) {
    let began = base.now
    while hasNoisyClock {
      let start = base.now
      let next = FilteredClock.nextReadTime(after: start)
      base.wait(noLongerThan: min(nanoseconds, next &- start), &status)
      let now = base.now
      guard case .waiting = status.readiness, now >= next,
        now &- began < min(nanoseconds, 100_000_000)
      else { return }
      for index in 0..<count { (feeds + index).pointee.poll(at: now) }
    }
    base.wait(noLongerThan: nanoseconds, &status)
  }

  private var hasNoisyClock: Bool {
    @_noLocks get {
      for index in 0..<count where (feeds + index).pointee.isNoisy { return true }
      return false
    }
  }

  /// Lends the next captured frames.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    base.capturedFrames(frames)
  }

  /// Releases captured frames.
  @_noLocks
  public mutating func release(_ frames: Int) { base.release(frames) }

  /// Lends room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    lent = base.playbackRoom(frames)
    return lent
  }

  /// Hands frames over to be played, and then to the secondary outputs.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    guard count > 0, let lent else { return base.commit(frames) }
    lent.decode(from: 0, frames: frames, into: &played, at: 0)
    if let known = cycle.unitClock { follow(known) } else { findPlace(at: cycle.periodTime) }
    base.commit(frames)
    for index in 0..<count {
      (feeds + index).pointee.play(
        played, at: position, frames: frames, clock: clock.estimate, now: base.now)
    }
    position += frames
  }

  /// Estimates the device's clock from the times of the cycles if the device reports none. After a
  /// stop of the device its clock has advanced.
  @_noLocks
  private mutating func findPlace(at cycle: UInt64) {
    if hasRestarted, clock.isRunning {
      let gap = Int(clamping: clock.frames(at: cycle)) - position
      if gap > minimumGap {
        position += gap
        clock.restart()
        for index in 0..<count { (feeds + index).pointee.restartInput() }
      }
    }
    hasRestarted = false
    clock.take(ClockReading(frames: position, nanoseconds: cycle))
  }

  /// Follows the device's own clock. The times of the cycles are not used then.
  @_noLocks
  private mutating func follow(_ known: UnitClock) {
    if known.epoch != epoch {
      epoch = known.epoch
      renumber(known)
    }
    if known.due - position > minimumGap {
      for index in 0..<count { (feeds + index).pointee.restartInput() }
    }
    position = known.due
    clock.follow(known.clock)
  }

  /// Handles a restart of the device's frame count: shifts `position` by the difference, minus the
  /// frames that were left out.
  @_noLocks
  private mutating func renumber(_ known: UnitClock) {
    var shift = known.due - position
    if clock.isRunning, known.clock.isRunning {
      let now = base.now
      let moved = Int(rounding: known.clock.frames(at: now) - clock.frames(at: now))
      if abs(moved - shift) > minimumGap { shift = moved }
    }
    position += shift
    for index in 0..<count { (feeds + index).pointee.renumberInput(by: shift) }
  }

  /// The smallest gap in frames. A smaller difference is an error of the clock's estimate.
  private let minimumGap: Int

  /// Starts the device again; the secondary outputs continue. Throws if it cannot be started again.
  public mutating func recover() throws(DeviceFailure) {
    hasRestarted = true
    try base.recover()
  }

  /// Closes the device, which is lost.
  public mutating func close() { base.close() }

  /// Waits for the return of the device.
  public mutating func pollForReconnection() -> DeviceReturn {
    hasRestarted = true
    return base.pollForReconnection()
  }

  /// Enables the reconnection of the device.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {
    base.enableReconnection(reportingTo: news)
  }

  /// Returns the next event of one of the devices; nil if there is none.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    if let event = base.takeEvent() { return event }
    for index in 0..<count {
      guard let kind = (feeds + index).pointee.event else { continue }
      (feeds + index).pointee.event = nil
      return DeviceEvent(kind, outputIndex: index)
    }
    return nil
  }

  /// Returns the drift and xruns of a secondary output; nil if there is none with that index.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
    (0..<count).contains(index) ? (feeds + index).pointee.reading(at: base.now) : nil
  }

  /// Stops all devices.
  public mutating func stop(draining: Bool) {
    base.stop(draining: draining)
    for index in 0..<count { (feeds + index).pointee.stop() }
  }
}

@_noLocks
private func callFanOut(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: FanOutDevice.self), storing: answer)
}

// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// A duplex device whose output is played on secondary outputs as well, such as speakers and
/// headphones.
///
/// Each secondary output goes by its own clock and has a loop and a converter of its own. What the
/// device plays is copied to them in the same cycle, and they are never waited for: whatever
/// becomes of them, the device does what it would do alone. Without any it is the device itself.
public struct FanOutDevice: DuplexDriver, ~Copyable {
  /// What the audio thread calls.
  public static let function: DriverFunction = callFanOut
  /// What was granted, and the secondary outputs.
  public private(set) var configuration: DuplexConfiguration

  private var base: DuplexDevice
  /// Reached as `(feeds + index).pointee`: Swift 6.3.1 fails to compile `feeds[index]` here for
  /// ThreadSanitizer.
  let feeds: UnsafeMutablePointer<SecondaryOutputFeed>
  private var count = 0
  private let quality: ConversionQuality
  private let returns = MutexBox<DeviceReturn?>(nil)
  private var played: SampleBuffer
  private var lent: DeviceFrames?
  /// What the device knew of itself when this cycle began.
  private var cycle = DeviceStatus()
  /// The unit's clock: where the next frame to be played lies on it, gaps included.
  private var clock: FilteredClock
  private var position = 0
  private var hasRestarted = false
  /// Which counting of the device's frames `position` goes by.
  private var epoch = -1

  /// The same as `base`; `resamplerQuality`, 0 to 10, is that of what is to come.
  public init(_ base: consuming DuplexDevice, resamplerQuality: Int) {
    let granted = base.configuration
    configuration = granted
    leastGap = granted.sampleRate / 500
    quality = ConversionQuality(resamplerQuality: resamplerQuality)
    feeds = .allocate(capacity: SecondaryOutput.mostOutputs)
    played = SampleBuffer(frameCount: 1, channelCount: 1)
    clock = FilteredClock(framesPerSecond: Double(granted.sampleRate))
    self.base = base
  }

  deinit {
    feeds.deinitialize(count: count)
    feeds.deallocate()
  }

  /// Lets `output` play as well, from the start on. Throws `.invalidRequest` where nothing is
  /// played, or there are eight already, and `.refused` where there can be no thread for it.
  public mutating func add(_ output: consuming DeviceStream) throws(DeviceFailure) {
    guard let playback = configuration.playback, count < SecondaryOutput.mostOutputs else {
      throw DeviceFailure(
        .invalidRequest, "No more than \(SecondaryOutput.mostOutputs) secondary outputs can play.",
        hint: "Name fewer, and something to be played.", remedy: .removeSecondaryOutputs)
    }
    if count == 0 {
      played = SampleBuffer(
        frameCount: configuration.periodFrames, channelCount: playback.channelCount)
    }
    let feed = try SecondaryOutputFeed(
      output, configuration, quality: quality, telling: returns)
    (feeds + count).initialize(to: feed)
    configuration.secondaryOutputs.append((feeds + count).pointee.stream)
    count += 1
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { base.now }
  }

  /// Starts all of them. Throws where the device or a secondary output does not start.
  public mutating func start() throws(DeviceFailure) {
    try base.start()
    for index in 0..<count { try (feeds + index).pointee.start(at: base.now) }
  }

  /// Sleeps until the next period is there. Secondary outputs whose clocks are noisy are looked at
  /// meanwhile: seen once a period only, batches that are about as long would seem late, or in
  /// time, for seconds on end.
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
      let next = FilteredClock.nextLook(after: start)
      base.wait(noLongerThan: min(nanoseconds, next &- start), &status)
      let now = base.now
      guard case .waiting = status.readiness, now >= next,
        now &- began < min(nanoseconds, 100_000_000)
      else { return }
      for index in 0..<count { (feeds + index).pointee.look(at: now) }
    }
    base.wait(noLongerThan: nanoseconds, &status)
  }

  private var hasNoisyClock: Bool {
    @_noLocks get {
      for index in 0..<count where (feeds + index).pointee.isNoisy { return true }
      return false
    }
  }

  /// The next captured frames.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    base.capturedFrames(frames)
  }

  /// Gives captured frames back.
  @_noLocks
  public mutating func release(_ frames: Int) { base.release(frames) }

  /// Room for the next frames to play.
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

  /// Without a clock of the device, estimates it from the times of the cycles. After the device
  /// stood still its clock has moved on.
  @_noLocks
  private mutating func findPlace(at cycle: UInt64) {
    if hasRestarted, clock.isRunning {
      let gap = Int(clamping: clock.frames(at: cycle)) - position
      if gap > leastGap {
        position += gap
        clock.restart()
        for index in 0..<count { (feeds + index).pointee.restartInput() }
      }
    }
    hasRestarted = false
    clock.take(ClockReading(frames: position, nanoseconds: cycle))
  }

  /// Goes by the device's own clock. The times of the cycles are not needed then.
  @_noLocks
  private mutating func follow(_ known: UnitClock) {
    if known.epoch != epoch {
      epoch = known.epoch
      renumber(known)
    }
    if known.due - position > leastGap {
      for index in 0..<count { (feeds + index).pointee.restartInput() }
    }
    position = known.due
    clock.follow(known.clock)
  }

  /// The device counts its frames anew: shifts `position` by the difference, less the frames that
  /// were left out.
  @_noLocks
  private mutating func renumber(_ known: UnitClock) {
    var shift = known.due - position
    if clock.isRunning, known.clock.isRunning {
      let now = base.now
      let moved = Int(rounding: known.clock.frames(at: now) - clock.frames(at: now))
      if abs(moved - shift) > leastGap { shift = moved }
    }
    position += shift
    for index in 0..<count { (feeds + index).pointee.renumberInput(by: shift) }
  }

  /// A difference of fewer frames is an error of the clock's estimate, not a gap.
  private let leastGap: Int

  /// Starts the device again; the secondary outputs go on. Throws where it cannot be started again.
  public mutating func recover() throws(DeviceFailure) {
    hasRestarted = true
    try base.recover()
  }

  /// Lets go of the device.
  public mutating func close() { base.close() }

  /// Waits for the device.
  public mutating func pollForReconnection() -> DeviceReturn {
    hasRestarted = true
    return base.pollForReconnection()
  }

  /// Goes on as long as anything does.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) {
    base.enableReconnection(telling: news)
  }

  /// What happened to one of the devices.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    if let event = base.takeEvent() { return event }
    for index in 0..<count {
      guard let kind = (feeds + index).pointee.event else { continue }
      (feeds + index).pointee.event = nil
      return DeviceEvent(kind, frames: index)
    }
    return nil
  }

  /// How a secondary output does; nil where there is none of that number.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
    index < count ? (feeds + index).pointee.reading(at: base.now) : nil
  }

  /// Stops all.
  public mutating func stop(draining: Bool) {
    base.stop(draining: draining)
    for index in 0..<count { (feeds + index).pointee.stop() }
  }
}

@_noLocks
private func callFanOut(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: FanOutDevice.self), storing: answer)
}

import AudioBasics
import AudioClocks
import RealtimeAudio

/// A duplex device whose output is heard on further devices as well: speakers and headphones.
///
/// Each further output goes by its own clock and has a loop and a converter of its own. What the
/// device plays is copied to them in the same cycle, and they are never waited for: whatever becomes
/// of them, the device does what it would do alone. Without any it is the device itself.
public struct FanOutDevice<
  Base: DuplexDevice & ~Copyable, Output: ClockedOutput & ~Copyable
>: DuplexDevice, ~Copyable {
  /// What was granted, and the further outputs.
  public private(set) var configuration: DuplexConfiguration

  private var base: Base
  let feeds: UnsafeMutablePointer<SecondaryOutputFeed<Output>>
  private var count = 0
  private let quality: ConversionQuality
  private let returns = MutexBox<DeviceReturn?>(nil)
  private var played: SampleBuffer
  private var lent: DeviceFrames?
  /// The unit's clock: where the next frame to be played lies on it, gaps included.
  private var clock: FilteredClock
  private var place = 0
  private var hasRestarted = false
  /// Which counting of the device's frames `place` goes by.
  private var numbering = -1

  /// The same as `base`; `resamplerQuality`, 0 to 10, is that of what is to come.
  public init(_ base: consuming Base, resamplerQuality: Int) {
    let granted = base.configuration
    configuration = granted
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
  /// played, or there are eight already.
  public mutating func add(_ output: consuming Output) throws(DeviceFailure) {
    guard let playback = configuration.playback, count < SecondaryOutput.mostOutputs else {
      throw DeviceFailure(
        .invalidRequest, "No more than \(SecondaryOutput.mostOutputs) further outputs can play.",
        hint: "Name fewer with --also-play, and something to be played.")
    }
    if count == 0 {
      played = SampleBuffer(
        frameCount: configuration.periodFrames, channelCount: playback.channelCount)
    }
    (feeds + count).initialize(
      to: SecondaryOutputFeed(output, configuration, quality: quality, telling: returns))
    configuration.further.append(feeds[count].stream)
    count += 1
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 { base.now }
  /// When the newest captured frame was complete.
  public var periodTime: UInt64 { base.periodTime }
  /// The clock of the device.
  public var unitClock: UnitClock? { base.unitClock }
  /// When the last period was found.
  public var readyTime: UInt64 { base.readyTime }
  /// What the driver of the device itself counts.
  public var claimedLatencyFrames: Int { base.claimedLatencyFrames }
  /// How two clocks of the device itself are held together.
  public var drift: DriftReading? { base.drift }

  /// Gets all going.
  public mutating func start() throws(DeviceFailure) {
    try base.start()
    for index in 0..<count { try feeds[index].start(at: base.now) }
  }

  /// Sleeps until the next period is there. Further outputs whose clocks are noisy are looked at
  /// meanwhile: seen once a period only, batches that are about as long would seem late, or in time,
  /// for seconds on end.
  public mutating func wait() -> DeviceReadiness {
    let began = base.now
    while hasNoisyClock {
      let next = base.now &+ FilteredClock.lookNanoseconds
      let found = base.wait(noLongerThan: FilteredClock.lookNanoseconds)
      let now = base.now
      guard case .waiting = found, now >= next, now &- began < 100_000_000 else { return found }
      for index in 0..<count { feeds[index].look(at: now) }
    }
    return base.wait()
  }

  private var hasNoisyClock: Bool {
    for index in 0..<count where feeds[index].isNoisy { return true }
    return false
  }

  /// Frames lost since the last cycle.
  public mutating func takeLostFrames() -> Int { base.takeLostFrames() }

  /// Frames of the input that are heard as silence since the last cycle.
  public mutating func takeBridgedFrames() -> Int? { base.takeBridgedFrames() }

  /// The next captured frames.
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    base.capturedFrames(frames)
  }

  /// Gives captured frames back.
  public mutating func release(_ frames: Int) { base.release(frames) }

  /// Room for the next frames to play.
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    lent = base.playbackRoom(frames)
    return lent
  }

  /// Hands frames over to be played, and then to the further outputs.
  public mutating func commit(_ frames: Int) {
    guard count > 0, let lent else { return base.commit(frames) }
    lent.decode(from: 0, frames: frames, into: &played, at: 0)
    if let known = base.unitClock { follow(known) } else { findPlace(at: base.periodTime) }
    base.commit(frames)
    for index in 0..<count {
      feeds[index].play(played, at: place, frames: frames, clock: clock, now: base.now)
    }
    place += frames
  }

  /// Where nothing but the times of the cycles tells. After the device stood still its clock has
  /// moved on.
  private mutating func findPlace(at cycle: UInt64) {
    if hasRestarted, clock.isRunning {
      let gap = Int(clamping: clock.frames(at: cycle)) - place
      if gap > leastGap {
        place += gap
        clock.restart()
        for index in 0..<count { feeds[index].restartInput() }
      }
    }
    hasRestarted = false
    clock.take(ClockReading(frames: place, nanoseconds: cycle))
  }

  /// The device knows its clock: how a cycle was late on top of that means nothing.
  private mutating func follow(_ known: UnitClock) {
    if known.numbering != numbering {
      numbering = known.numbering
      renumber(known)
    }
    if known.due - place > leastGap {
      for index in 0..<count { feeds[index].restartInput() }
    }
    place = known.due
    clock = known.clock
  }

  /// Its frames are counted anew. Time goes on, and so do the frames, unless some were left out.
  private mutating func renumber(_ known: UnitClock) {
    var shift = known.due - place
    if clock.isRunning, known.clock.isRunning {
      let now = base.now
      let moved = Int(rounding: known.clock.frames(at: now) - clock.frames(at: now))
      if abs(moved - shift) > leastGap { shift = moved }
    }
    place += shift
    for index in 0..<count { feeds[index].renumberInput(by: shift) }
  }

  /// Fewer frames than that are no gap, but how well clocks are known.
  private var leastGap: Int { configuration.sampleRate / 500 }

  /// Starts the device again; the further outputs go on.
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
  public mutating func takeEvents() -> SideEvents? {
    if let news = base.takeEvents() { return news }
    for index in 0..<count {
      guard let kind = feeds[index].news else { continue }
      feeds[index].news = nil
      return SideEvents(kind, frames: index)
    }
    return nil
  }

  /// How a further output does; nil where there is none of that number.
  public func furtherReading(_ index: Int) -> SecondaryOutputReading? {
    index < count ? feeds[index].reading(at: base.now) : nil
  }

  /// Stops all.
  public mutating func stop(draining: Bool) {
    base.stop(draining: draining)
    for index in 0..<count { feeds[index].output.stop() }
  }
}

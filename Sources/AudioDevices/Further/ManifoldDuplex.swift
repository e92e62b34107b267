import AudioBasics
import AudioClocks
import RealtimeAudio

/// A duplex device whose output is heard on further devices as well: speakers and headphones.
///
/// Each further output goes by its own clock and has a loop and a converter of its own. What the
/// device plays is copied to them in the same cycle, and they are never waited for: whatever becomes
/// of them, the device does what it would do alone. Without any it is the device itself.
public struct ManifoldDuplex<
  Base: DuplexDevice & ~Copyable, Output: ClockedOutput & ~Copyable
>: DuplexDevice, ~Copyable {
  /// What was granted, and the further outputs.
  public private(set) var configuration: DuplexConfiguration

  private var base: Base
  let feeds: UnsafeMutablePointer<FurtherFeed<Output>>
  private var count = 0
  private let quality: ConversionQuality
  private let returns = Guarded<DeviceReturn?>(nil)
  private var played: SampleBuffer
  private var lent: DeviceFrames?
  /// The unit's clock: where the next frame to be played lies on it, gaps included.
  private var clock: FilteredClock
  private var place = 0
  private var hasRestarted = false

  /// The same as `base`; `resamplerQuality`, 0 to 10, is that of what is to come.
  public init(_ base: consuming Base, resamplerQuality: Int) {
    let granted = base.configuration
    configuration = granted
    quality = ConversionQuality(resamplerQuality: resamplerQuality)
    feeds = .allocate(capacity: FurtherStream.mostOutputs)
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
    guard let playback = configuration.playback, count < FurtherStream.mostOutputs else {
      throw DeviceFailure(
        .invalidRequest, "No more than \(FurtherStream.mostOutputs) further outputs can play.",
        hint: "Name fewer with --also-play, and something to be played.")
    }
    if count == 0 {
      played = SampleBuffer(
        frameCount: configuration.periodFrames, channelCount: playback.channelCount)
    }
    (feeds + count).initialize(
      to: FurtherFeed(output, configuration, quality: quality, telling: returns))
    configuration.further.append(feeds[count].stream)
    count += 1
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 { base.now }
  /// When the newest captured frame was complete.
  public var periodTime: UInt64 { base.periodTime }
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

  /// Sleeps until the next period is there.
  public mutating func wait() -> DeviceReadiness { base.wait() }

  /// Frames lost since the last cycle.
  public mutating func takeLostFrames() -> Int { base.takeLostFrames() }

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
    base.commit(frames)
    let cycle = base.periodTime
    findPlace(at: cycle)
    clock.take(ClockReading(frames: place, nanoseconds: cycle))
    for index in 0..<count {
      feeds[index].play(played, at: place, frames: frames, cycle: cycle, now: base.now)
    }
    place += frames
  }

  /// After the device stood still its clock has moved on.
  private mutating func findPlace(at cycle: UInt64) {
    guard hasRestarted else { return }
    hasRestarted = false
    let gap = clock.isRunning ? Int(clock.frames(at: cycle)) - place : 0
    guard gap > configuration.sampleRate / 500 else { return }
    place += gap
    clock.restart()
    for index in 0..<count { feeds[index].restartInput() }
  }

  /// Starts the device again; the further outputs go on.
  public mutating func recover() throws(DeviceFailure) {
    hasRestarted = true
    try base.recover()
  }

  /// Lets go of the device.
  public mutating func letGo() { base.letGo() }

  /// Waits for the device.
  public mutating func awaitReturn() -> DeviceReturn {
    hasRestarted = true
    return base.awaitReturn()
  }

  /// Goes on as long as anything does.
  public mutating func outliveLoss(telling news: Guarded<DeviceReturn?>) {
    base.outliveLoss(telling: news)
  }

  /// What happened to one of the devices.
  public mutating func takeNews() -> SideNews? {
    if let news = base.takeNews() { return news }
    for index in 0..<count {
      guard let kind = feeds[index].news else { continue }
      feeds[index].news = nil
      return SideNews(kind, frames: index)
    }
    return nil
  }

  /// How a further output does; nil where there is none of that number.
  public func furtherReading(_ index: Int) -> FurtherReading? {
    index < count ? feeds[index].reading(at: base.now) : nil
  }

  /// Stops all.
  public mutating func stop(draining: Bool) {
    base.stop(draining: draining)
    for index in 0..<count { feeds[index].output.stop() }
  }
}

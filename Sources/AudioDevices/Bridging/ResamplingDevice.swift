import AudioBasics
import AudioClocks
import RealtimeAudio

/// A device whose rates are not the unit's, made to look as if they were.
///
/// Captured frames are resampled on their way in, played ones on their way out. Nothing is dropped
/// or doubled, so the delay this adds is constant; it is part of the configuration's latency: the
/// two filters, and one period's reserve because a device's period is no whole number of ours.
public struct ResamplingDevice<Base: DuplexDevice & ~Copyable>: DuplexDevice, ~Copyable {
  /// What was granted.
  public let configuration: DuplexConfiguration

  private var base: Base
  private let baseShape: DuplexShape
  private let period: Int
  private var input: RateStage
  private var output: RateStage
  private let reserveFrames: Int
  /// Frames at the unit's rate for one of the input's.
  private let lossScale: Double

  private var deviceInput: SampleBuffer
  private var deviceOutput: SampleBuffer
  private var unitOutput: SampleBuffer
  private var unitInput: SampleBuffer
  private var delivered: DeviceBuffer
  private var room: DeviceBuffer
  private var hasDelivered = false
  /// Frames at the unit's rate that were captured, waited in the queue and are forgotten.
  private var forgottenFrames = 0

  /// Drives `base` at the rate, period and headroom that `request` asks for.
  public init(_ base: consuming Base, request: DuplexRequest) throws(DeviceFailure) {
    var granted = base.configuration
    let rate = request.sampleRate ?? granted.sampleRate
    let captureRate = granted.capture?.sampleRate ?? granted.sampleRate
    let playbackRate = granted.playback?.sampleRate ?? granted.sampleRate
    let captureChannels = granted.capture?.channelCount ?? 1
    let playbackChannels = granted.playback?.channelCount ?? 1
    let period = request.periodFrames
    let playbackScale = Double(playbackRate) / Double(rate)
    let devicePeriod = granted.periodFrames
    // Eight periods of either side, in frames at the rate behind the resampler.
    func capacity(_ unitFrames: Double, _ deviceFrames: Double, isThere: Bool) -> Int {
      isThere ? 8 * Int(clamping: (unitFrames + deviceFrames).rounded(.up)) + 1024 : 1
    }
    let captureScale = Double(rate) / Double(captureRate)
    let inStage = try RateStage(
      channelCount: captureChannels, from: captureRate, to: rate,
      quality: request.resamplerQuality,
      capacity: capacity(
        Double(period), Double(devicePeriod) * captureScale, isThere: granted.capture != nil))
    let outStage = try RateStage(
      channelCount: playbackChannels, from: rate, to: playbackRate,
      quality: request.resamplerQuality,
      capacity: capacity(
        Double(period) * playbackScale, Double(devicePeriod), isThere: granted.playback != nil),
      isStream: granted.capture == nil)
    let reserve =
      granted.capture == nil ? 0 : Int(clamping: (Double(period) * playbackScale).rounded(.up)) + 4
    let shape = DuplexShape(granted)
    let delay =
      (Double(shape.playbackAheadFrames + reserve) + outStage.delayFrames) / playbackScale
      + inStage.delayFrames
    reserveFrames = reserve
    baseShape = shape
    lossScale = captureScale
    input = inStage
    output = outStage
    granted.sampleRate = rate
    granted.periodFrames = period
    granted.headroomFrames = request.headroom
    granted.isResampling = true
    granted.resamplerDelayFrames = max(0, delay - Double(period + request.headroom))
    configuration = granted
    self.period = period
    self.base = base

    deviceInput = SampleBuffer(frameCount: devicePeriod, channelCount: captureChannels)
    deviceOutput = SampleBuffer(frameCount: devicePeriod, channelCount: playbackChannels)
    unitInput = SampleBuffer(frameCount: period, channelCount: captureChannels)
    unitOutput = SampleBuffer(frameCount: period, channelCount: playbackChannels)
    delivered = DeviceBuffer(
      format: .floatLE, channelCount: captureChannels, frameCount: period)
    room = DeviceBuffer(format: .floatLE, channelCount: playbackChannels, frameCount: period)
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 { base.now }
  /// When the device last had a period.
  public var readyTime: UInt64 { base.readyTime }
  /// What the device's driver counts, at the unit's rate, and the resampler's own delay.
  public var claimedLatencyFrames: Int {
    let claimed = base.claimedLatencyFrames
    guard claimed > 0 else { return 0 }
    let pace = Double(configuration.sampleRate) / Double(base.configuration.sampleRate)
    return Int(clamping: Double(claimed) * pace + configuration.resamplerDelayFrames + 0.5)
  }
  /// How the device's clocks are held together.
  public var drift: DriftReading? { base.drift }
  /// When the newest captured frame was complete.
  public var periodTime: UInt64 { base.periodTime }

  /// Gets both directions going together.
  public mutating func start() throws(DeviceFailure) {
    input.reset()
    output.reset()
    if baseShape.hasCapture { output.pushSilence(reserveFrames) }
    try base.start()
  }

  /// Sleeps until the next period is there.
  public mutating func wait() -> DeviceReadiness {
    if baseShape.hasCapture {
      while input.queued < period {
        let readiness = base.wait()
        guard case .ready = readiness else { return readiness }
        // Ready, and nothing to be had: whoever drives it judges for how long that may go on.
        guard capture() else { return .waiting }
        _ = flush()
      }
      return .ready
    }
    while output.queued >= baseShape.periodFrames {
      let readiness = base.wait()
      guard case .ready = readiness else { return readiness }
      guard flush() else { return .waiting }
    }
    return .ready
  }

  /// One of the device's periods into our queue. False where it gave none.
  private mutating func capture() -> Bool {
    let frames = baseShape.periodFrames
    guard let lent = base.capturedFrames(frames) else { return false }
    lent.decode(from: 0, frames: frames, into: &deviceInput, at: 0)
    base.release(frames)
    input.push(deviceInput, frames: frames)
    return true
  }

  /// As much of our queue to the device as it has room for, a period at the most. False where it
  /// took nothing.
  private mutating func flush() -> Bool {
    let frames = min(output.queued, baseShape.periodFrames)
    guard frames > 0, baseShape.hasPlayback, let space = base.playbackRoom(frames) else {
      return false
    }
    let count = output.pull(into: &deviceOutput, frames: frames)
    _ = space.encode(deviceOutput, from: 0, frames: count, at: 0)
    base.commit(count)
    return true
  }

  /// Frames of the input that were lost since the last cycle while the timeline went on.
  public mutating func takeBridgedFrames() -> Int? {
    base.takeBridgedFrames().map { Int(rounding: Double($0) * lossScale) }
  }

  /// Frames lost since the last cycle; asked once, then 0.
  public mutating func takeLostFrames() -> Int {
    let frames = Int(rounding: Double(base.takeLostFrames()) * lossScale) + forgottenFrames
    forgottenFrames = 0
    return frames
  }

  /// The next captured frames.
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    if !hasDelivered {
      guard input.pull(into: &unitInput, frames: frames) == frames else { return nil }
      delivered.store(unitInput, from: 0, frames: frames)
      hasDelivered = true
    }
    return delivered.frames(frames)
  }

  /// Gives captured frames back.
  public mutating func release(_ frames: Int) {
    hasDelivered = false
  }

  /// Room for the next frames to play.
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    room.frames(frames)
  }

  /// Hands frames over to be played.
  public mutating func commit(_ frames: Int) {
    room.load(frames: frames, into: &unitOutput, at: 0)
    output.push(unitOutput, frames: frames)
    if baseShape.hasCapture { _ = flush() }
  }

  /// Starts both directions again after an xrun or a suspension, at the same latency.
  public mutating func recover() throws(DeviceFailure) {
    try base.recover()
    beginAfresh()
  }

  /// Lets go of a device that is lost.
  public mutating func close() {
    base.close()
  }

  /// Waits for it for a tenth of a second. When it is back the latency is what it was.
  public mutating func pollForReconnection() -> DeviceReturn {
    let found = base.pollForReconnection()
    if case .returned = found { beginAfresh() }
    return found
  }

  /// Goes on as long as anything does.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) {
    base.enableReconnection(telling: news)
  }

  /// What happened to one of two devices.
  public mutating func takeEvents() -> SideEvents? {
    guard var news = base.takeEvents() else { return nil }
    news.frames = Int(clamping: Double(news.frames) * lossScale + 0.5)
    news.silentFrames = Int(clamping: Double(news.silentFrames) * lossScale + 0.5)
    return news
  }

  /// What waits belongs to the time before a gap.
  private mutating func beginAfresh() {
    if baseShape.hasCapture { forgottenFrames += input.queued }
    hasDelivered = false
    input.reset()
    output.reset()
    if baseShape.hasCapture { output.pushSilence(reserveFrames) }
  }

  /// Stops both directions, with `draining` when what is queued has been heard.
  public mutating func stop(draining: Bool) {
    if draining, !baseShape.hasCapture { drain() }
    base.stop(draining: draining)
  }
  /// What waits in the queue and what the filter still holds is heard too, unless the device takes
  /// nothing for half a second.
  private mutating func drain() {
    var began = base.now
    var turns = 0
    while output.drain() || output.queued > 0 {
      switch base.wait(noLongerThan: 50_000_000) {
      case .ready where flush():
        began = base.now
        turns = 0
      case .ready, .waiting:
        turns += 1
        if base.now &- began > 500_000_000 || turns > 1_000_000 { return }
      case .xrun, .suspended, .lost: return
      }
    }
  }
}

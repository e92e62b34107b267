// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// A device whose rates are not the unit's, made to look as if they were.
///
/// Captured frames are resampled on their way in, played ones on their way out. Nothing is dropped
/// or doubled, so the delay this adds is constant; it is part of the configuration's latency: the
/// two filters, and one period's reserve because a device's period is no whole number of ours.
///
/// ```swift
/// var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
/// request.sampleRate = 48000
/// let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free")
/// let device = try SimulatedDevice(wire, request: request.atRate(44100))
/// let resampled = try ResamplingDevice(device, request: request)
/// precondition(resampled.configuration.sampleRate == 48000)
/// precondition(resampled.configuration.resamplerDelayFrames > 0)
/// ```
public struct ResamplingDevice: DuplexDriver, ~Copyable {
  /// What the audio thread calls.
  public static let function: DriverFunction = callResampling
  /// What was granted.
  public let configuration: DuplexConfiguration

  private var base: DuplexDevice
  private let baseShape: DuplexShape
  private let period: Int
  private var input: RateStage
  private var output: RateStage
  private let reserveFrames: Int
  /// Frames at the unit's rate for one of the input's.
  private let unitPerCapture: Double
  private let unitPerDevice: Double
  private let resamplerDelayFrames: Double

  private var deviceInput: SampleBuffer
  private var deviceOutput: SampleBuffer
  private var unitOutput: SampleBuffer
  private var unitInput: SampleBuffer
  private var hasDelivered = false
  /// What the device knew of itself when its last period was there, and what was lost of its frames
  /// since the unit's last one.
  private var cycle = DeviceStatus()
  private var lostFrames = 0
  private var concealedFrames = 0
  /// Frames at the unit's rate that were captured, waited in the queue and are forgotten.
  private var forgottenFrames = 0

  /// Drives the device of `driver` at the rate, period and headroom that `request` asks for.
  /// Throws where the rates cannot be converted, or there is no memory.
  public init<Driver: DuplexDriver & ~Copyable>(
    _ driver: consuming Driver, request: DuplexRequest
  ) throws(DeviceFailure) {
    try self.init(DuplexDevice(driver), request: request)
  }

  /// Drives `base` at the rate, period and headroom that `request` asks for.
  /// Throws where the rates cannot be converted, or there is no memory.
  public init(_ base: consuming DuplexDevice, request: DuplexRequest) throws(DeviceFailure) {
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
    let unitPerCapture = Double(rate) / Double(captureRate)
    let inStage = try RateStage(
      channelCount: captureChannels, from: captureRate, to: rate,
      quality: request.resamplerQuality,
      capacity: capacity(
        Double(period), Double(devicePeriod) * unitPerCapture, isThere: granted.capture != nil))
    let outStage = try RateStage(
      channelCount: playbackChannels, from: rate, to: playbackRate,
      quality: request.resamplerQuality,
      capacity: capacity(
        Double(period) * playbackScale, Double(devicePeriod), isThere: granted.playback != nil),
      isFinite: granted.capture == nil)
    let reserve =
      granted.capture == nil ? 0 : Int(clamping: (Double(period) * playbackScale).rounded(.up)) + 4
    let shape = DuplexShape(granted)
    let delay =
      (Double(shape.playbackAheadFrames + reserve) + outStage.delayFrames) / playbackScale
      + inStage.delayFrames
    reserveFrames = reserve
    baseShape = shape
    self.unitPerCapture = unitPerCapture
    input = inStage
    output = outStage
    granted.sampleRate = rate
    granted.periodFrames = period
    granted.headroomFrames = request.headroom
    granted.isResampling = true
    granted.resamplerDelayFrames = max(0, delay - Double(period + request.headroom))
    configuration = granted
    unitPerDevice = Double(rate) / Double(base.configuration.sampleRate)
    resamplerDelayFrames = granted.resamplerDelayFrames
    self.period = period
    self.base = base

    deviceInput = SampleBuffer(frameCount: devicePeriod, channelCount: captureChannels)
    deviceOutput = SampleBuffer(frameCount: devicePeriod, channelCount: playbackChannels)
    unitInput = SampleBuffer(frameCount: period, channelCount: captureChannels)
    unitOutput = SampleBuffer(frameCount: period, channelCount: playbackChannels)
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { base.now }
  }

  /// Gets both directions going together. Throws where the device does not start.
  public mutating func start() throws(DeviceFailure) {
    try base.start()
    reset()
  }

  /// Empties the queues for a device that has just started.
  @_noLocks
  private mutating func reset() {
    input.reset()
    output.reset()
    if baseShape.hasCapture { output.pushSilence(reserveFrames) }
    // An output may have room before its first period is waited for: until then time counts from
    // the start.
    cycle.periodTime = base.now
    cycle.readyTime = cycle.periodTime
  }

  /// Sleeps until the next period is there, at the unit's rate.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    let called = base.now
    status.readiness = baseShape.hasCapture ? waitForInput(nanoseconds) : waitForRoom(nanoseconds)
    status.hasEvents = cycle.hasEvents
    guard case .ready = status.readiness else { return }
    status.periodTime = cycle.periodTime
    // Several of the unit's cycles may go by one of the device's.
    status.readyTime = max(called, cycle.readyTime)
    status.drift = cycle.drift
    status.lostFrames = Int(rounding: Double(lostFrames) * unitPerCapture) &+ forgottenFrames
    lostFrames = 0
    forgottenFrames = 0
    if cycle.concealedFrames == nil {
      status.concealedFrames = nil
    } else {
      status.concealedFrames = Int(rounding: Double(concealedFrames) * unitPerCapture)
      concealedFrames = 0
    }
    // What the device's driver counts, at the unit's rate, and the resampler's own delay.
    let reported = cycle.reportedLatencyFrames
    status.reportedLatencyFrames =
      reported > 0
      ? Int(clamping: Double(reported) * unitPerDevice + resamplerDelayFrames + 0.5) : 0
  }

  @_noLocks
  private mutating func waitForInput(_ nanoseconds: UInt64) -> DeviceReadiness {
    while input.queued < period {
      guard waitForDevice(nanoseconds) else { return cycle.readiness }
      // Ready without a frame: the unit decides for how long that may last.
      guard takePeriod() else { return .waiting }
      _ = flush()
    }
    return .ready
  }

  @_noLocks
  private mutating func waitForRoom(_ nanoseconds: UInt64) -> DeviceReadiness {
    while output.queued >= baseShape.periodFrames {
      guard waitForDevice(nanoseconds) else { return cycle.readiness }
      guard flush() else { return .waiting }
    }
    return .ready
  }

  /// Whether the device has a period.
  @_noLocks
  private mutating func waitForDevice(_ nanoseconds: UInt64) -> Bool {
    base.wait(noLongerThan: nanoseconds, &cycle)
    guard case .ready = cycle.readiness else { return false }
    lostFrames &+= cycle.lostFrames
    concealedFrames &+= cycle.concealedFrames ?? 0
    return true
  }

  /// One of the device's periods into our queue. False where it gave none.
  @_noLocks
  private mutating func takePeriod() -> Bool {
    let frames = baseShape.periodFrames
    guard let lent = base.capturedFrames(frames) else { return false }
    lent.decode(from: 0, frames: frames, into: &deviceInput, at: 0)
    base.release(frames)
    input.push(deviceInput, frames: frames)
    return true
  }

  /// As much of our queue to the device as it has room for, a period at the most. False where it
  /// took nothing.
  @_noLocks
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

  /// The next captured frames.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    if !hasDelivered {
      guard input.pull(into: &unitInput, frames: frames) == frames else { return nil }
      hasDelivered = true
    }
    return unitInput.lent(frames)
  }

  /// Gives captured frames back.
  @_noLocks
  public mutating func release(_ frames: Int) {
    hasDelivered = false
  }

  /// Room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    unitOutput.lent(frames)
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    output.push(unitOutput, frames: frames)
    if baseShape.hasCapture { _ = flush() }
  }

  /// Starts both directions again after an xrun or a suspension, at the same latency.
  /// Throws where the device cannot be started again.
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
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    guard var event = base.takeEvent() else { return nil }
    event.frames = Int(clamping: Double(event.frames) * unitPerCapture + 0.5)
    event.silentFrames = Int(clamping: Double(event.silentFrames) * unitPerCapture + 0.5)
    return event
  }

  /// How a secondary output of the device does.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
    base.secondaryReading(index)
  }

  /// What waits belongs to the time before a gap.
  private mutating func beginAfresh() {
    if baseShape.hasCapture { forgottenFrames += input.queued }
    hasDelivered = false
    reset()
  }

  /// Stops both directions, with `draining` when what is queued has been played.
  public mutating func stop(draining: Bool) {
    if draining, !baseShape.hasCapture { drain() }
    base.stop(draining: draining)
  }
  /// Plays what waits in the queue and what the filter still holds, unless the device takes
  /// nothing for half a second.
  private mutating func drain() {
    var began = base.now
    var turns = 0
    while output.drain() || output.queued > 0 {
      base.wait(noLongerThan: 50_000_000, &cycle)
      switch cycle.readiness {
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

@_noLocks
private func callResampling(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: ResamplingDevice.self), storing: answer)
}

// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// A device that converts between the rates of another device and the unit's rate.
///
/// Captured frames are resampled on input, played frames on output. No frame is dropped or
/// duplicated, so the added delay is constant. It is part of the configuration's latency: the two
/// filters, and a reserve of one period, because a device's period is not a whole number of the
/// unit's periods.
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
  /// The function that the audio thread calls.
  public static let function: DriverFunction = callResampling
  /// The configuration that was granted.
  public let configuration: DuplexConfiguration

  private var base: DuplexDevice
  private let baseShape: DuplexShape
  private let period: Int
  private var input: RateStage
  private var output: RateStage
  private let reserveFrames: Int
  /// The number of frames at the unit's rate for one frame of the input.
  private let unitPerCapture: Double
  private let unitPerDevice: Double
  private let resamplerDelayFrames: Double

  private var deviceInput: SampleBuffer
  private var deviceOutput: SampleBuffer
  private var unitOutput: SampleBuffer
  private var unitInput: SampleBuffer
  private var hasDelivered = false
  /// The status of the device at its last period, and the device's frames that were lost since the
  /// unit's last period.
  private var cycle = DeviceStatus()
  private var lostFrames = 0
  private var concealedFrames = 0
  /// The number of frames at the unit's rate that were captured, queued and then discarded.
  private var forgottenFrames = 0
  /// The number of frames that the device has delivered and not received yet. It gets exactly one
  /// period for each period that it delivers: two devices with two clocks measure the delay by the
  /// number of frames handed over at each wait.
  private var owedFrames = 0

  /// Creates a device that uses the device of `driver` at the rate, period and headroom that
  /// `request` specifies. Throws if the rates cannot be converted, or there is not enough memory.
  public init<Driver: DuplexDriver & ~Copyable>(
    _ driver: consuming Driver, request: DuplexRequest
  ) throws(DeviceFailure) {
    try self.init(DuplexDevice(driver), request: request)
  }

  /// Creates a device that uses `base` at the rate, period and headroom that `request` specifies.
  /// Throws if the rates cannot be converted, or there is not enough memory.
  public init(_ base: consuming DuplexDevice, request: DuplexRequest) throws(DeviceFailure) {
    let device = base.configuration
    let plan = ResamplingPlan(device, request)
    let inStage = try plan.makeInput()
    let outStage = try plan.makeOutput()
    configuration = plan.configuration(
      inputDelay: inStage.delayFrames, outputDelay: outStage.delayFrames)
    baseShape = DuplexShape(device)
    period = request.periodFrames
    reserveFrames = plan.reserveFrames
    unitPerCapture = plan.unitPerCapture
    unitPerDevice = plan.unitPerDevice
    resamplerDelayFrames = configuration.resamplerDelayFrames
    input = inStage
    output = outStage
    deviceInput = SampleBuffer(
      frameCount: device.periodFrames, channelCount: plan.captureChannels)
    deviceOutput = SampleBuffer(
      frameCount: device.periodFrames, channelCount: plan.playbackChannels)
    unitInput = SampleBuffer(frameCount: period, channelCount: plan.captureChannels)
    unitOutput = SampleBuffer(frameCount: period, channelCount: plan.playbackChannels)
    self.base = base
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { base.now }
  }

  /// Starts both directions together. Throws if the device does not start.
  public mutating func start() throws(DeviceFailure) {
    try base.start()
    reset()
  }

  /// Empties the queues of a device that has just started.
  @_noLocks
  private mutating func reset() {
    input.reset()
    output.reset()
    owedFrames = 0
    if baseShape.hasCapture { output.pushSilence(reserveFrames) }
    // An output may have room before the wait for its first period. Until then time counts from the
    // start.
    cycle.periodTime = base.now
    cycle.readyTime = cycle.periodTime
  }

  /// Sleeps until the next period is available, at the unit's rate.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    let called = base.now
    status.readiness = baseShape.hasCapture ? waitForInput(nanoseconds) : waitForRoom(nanoseconds)
    status.hasEvents = cycle.hasEvents
    guard case .ready = status.readiness else { return }
    status.periodTime = cycle.periodTime
    // One period of the device may be enough for several cycles of the unit.
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
    // The count of the device's driver, at the unit's rate, plus the resampler's delay.
    let reported = cycle.reportedLatencyFrames
    status.reportedLatencyFrames =
      reported > 0
      ? Int(clamping: Double(reported) * unitPerDevice + resamplerDelayFrames + 0.5) : 0
  }

  @_noLocks
  private mutating func waitForInput(_ nanoseconds: UInt64) -> DeviceReadiness {
    while input.queued < period {
      // The unit has processed all of its whole periods: the reserve holds what is still missing.
      while flush() {}
      guard waitForDevice(nanoseconds) else { return cycle.readiness }
      // The device is ready without a frame: the unit decides for how long that is allowed.
      guard takePeriod() else { return .waiting }
      repay()
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

  /// Waits for the device. Returns whether it has a period.
  @_noLocks
  private mutating func waitForDevice(_ nanoseconds: UInt64) -> Bool {
    base.wait(noLongerThan: nanoseconds, &cycle)
    guard case .ready = cycle.readiness else { return false }
    lostFrames &+= cycle.lostFrames
    concealedFrames &+= cycle.concealedFrames ?? 0
    return true
  }

  /// Reads one period of the device into the input queue. Returns false if the device delivered
  /// none.
  @_noLocks
  private mutating func takePeriod() -> Bool {
    let frames = baseShape.periodFrames
    guard let lent = base.capturedFrames(frames) else { return false }
    lent.decode(from: 0, frames: frames, into: &deviceInput, at: 0)
    base.release(frames)
    input.push(deviceInput, frames: frames)
    if baseShape.hasPlayback { owedFrames &+= frames }
    return true
  }

  /// Hands the device as many queued frames as it has delivered, if all of them are queued already.
  @_noLocks
  private mutating func repay() {
    while output.queued >= owedFrames, flush() {}
  }

  /// Writes the queued frames to the device, at most a period, and with an input at most as many as
  /// it is owed. Returns false if the device has no room or there are no frames.
  @_noLocks
  private mutating func flush() -> Bool {
    let limit =
      baseShape.hasCapture ? min(owedFrames, baseShape.periodFrames) : baseShape.periodFrames
    let frames = min(output.queued, limit)
    guard frames > 0, baseShape.hasPlayback, let space = base.playbackRoom(frames) else {
      return false
    }
    let count = output.pull(into: &deviceOutput, frames: frames)
    _ = space.encode(deviceOutput, from: 0, frames: count, at: 0)
    base.commit(count)
    if baseShape.hasCapture { owedFrames &-= count }
    return true
  }

  /// Lends the next captured frames. Returns nil if there are not enough.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    if !hasDelivered {
      guard input.pull(into: &unitInput, frames: frames) == frames else { return nil }
      hasDelivered = true
    }
    return unitInput.lent(frames)
  }

  /// Releases captured frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    hasDelivered = false
  }

  /// Lends room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    unitOutput.lent(frames)
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    output.push(unitOutput, frames: frames)
    if baseShape.hasCapture { repay() }
  }

  /// Starts both directions again after an xrun or a suspension, at the same latency. Throws if the
  /// device cannot be started again.
  public mutating func recover() throws(DeviceFailure) {
    try base.recover()
    beginAfresh()
  }

  /// Closes a device that is lost.
  public mutating func close() {
    base.close()
  }

  /// Waits up to 100 ms for the return of the device. After the return the latency is unchanged.
  public mutating func pollForReconnection() -> DeviceReturn {
    let found = base.pollForReconnection()
    if case .returned = found { beginAfresh() }
    return found
  }

  /// Enables the reconnection of the device.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {
    base.enableReconnection(reportingTo: news)
  }

  /// Returns the next event of one of several devices, with its frames at the unit's rate; nil if
  /// there is none.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    guard var event = base.takeEvent() else { return nil }
    event.frames = Int(clamping: Double(event.frames) * unitPerCapture + 0.5)
    event.silentFrames = Int(clamping: Double(event.silentFrames) * unitPerCapture + 0.5)
    return event
  }

  /// Returns the drift and xruns of a secondary output of the device; nil if there is none.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
    base.secondaryReading(index)
  }

  /// Restarts the conversion. The queued frames belong to the time before a gap and are discarded.
  private mutating func beginAfresh() {
    if baseShape.hasCapture { forgottenFrames += input.queued }
    hasDelivered = false
    reset()
  }

  /// Stops both directions. With `draining`, the queued frames are played first.
  public mutating func stop(draining: Bool) {
    if draining, !baseShape.hasCapture { drain() }
    base.stop(draining: draining)
  }
  /// Plays the queued frames and those that the filter still holds, unless the device accepts
  /// nothing for 500 ms.
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

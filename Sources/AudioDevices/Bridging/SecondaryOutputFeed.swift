// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// One secondary output, with a bridge from the unit's clock to its clock.
///
/// No function waits. An output that ran dry, stalled or went away is detached, and reattached when
/// it runs again.
struct SecondaryOutputFeed: ~Copyable {
  /// The description of the output, with its latency.
  let stream: SecondaryOutput
  /// An event of the output that was not reported yet.
  var event: TimelineEvent.Kind?
  private var bridge: ClockDomainBridge
  private var far: AsynchronousOutput
  private var mapped: SampleBuffer
  private var xruns = 0
  private var isLost = false
  /// The number of output frames for one frame of the unit.
  private let outputPerUnit: Double

  /// Creates a feed for `output`, with frames of a unit of this configuration. Throws if the thread
  /// that searches for the output after an xrun cannot be started.
  init(
    _ output: consuming DeviceStream, _ unit: DuplexConfiguration, quality: ConversionQuality,
    reportingTo news: MutexBox<DeviceReturn?>
  ) throws(DeviceFailure) {
    let granted = output.configuration
    let rate = Double(unit.sampleRate)
    let reach = Double(quality.reach(of: unit.sampleRate, to: granted.sampleRate))
    // The unit runs once a period. It may be late by half a period or a millisecond, whichever is
    // longer.
    let margin = max(unit.periodFrames / 2, unit.sampleRate / 1000)
    let latency = Double(unit.periodFrames + margin) + reach
    // The delay of the unit's own output, to which this output's latency is added.
    let own =
      Double(unit.headroomFrames) + (unit.master == .playback ? 0 : unit.resamplerDelayFrames)
    let outputPerUnit = Double(granted.sampleRate) / rate
    bridge = ClockDomainBridge(
      channelCount: granted.channelCount, inputRate: unit.sampleRate,
      outputRate: granted.sampleRate, delaySeconds: (own + latency) / rate, quality: quality)
    far = AsynchronousOutput(
      output, silence: Int(clamping: (own + latency) * outputPerUnit),
      minimumQueuedFrames: (own + Double(margin)) * outputPerUnit)
    mapped = SampleBuffer(frameCount: unit.periodFrames, channelCount: granted.channelCount)
    stream = SecondaryOutput(
      device: granted.device, sampleRate: granted.sampleRate, channelCount: granted.channelCount,
      latencyFrames: latency)
    self.outputPerUnit = outputPerUnit
    guard far.enableReconnection(reportingTo: news) else {
      throw .noThread(waitingFor: granted.device)
    }
  }

  /// Starts the output. Throws if it does not start.
  mutating func start(at now: UInt64) throws(DeviceFailure) {
    try far.start(&bridge, at: now)
  }

  /// Handles a jump of the unit's clock.
  @_noLocks
  mutating func restartInput() { bridge.restartInput() }

  /// Whether more readings would make the estimate of its clock much more accurate.
  var isNoisy: Bool {
    @_noLocks mutating get { bridge.output.isNoisy }
  }

  /// Increases the numbers of the unit's frames by `frames` from now on.
  @_noLocks
  mutating func renumberInput(by frames: Int) { bridge.renumberInput(by: frames) }

  /// Plays the frames that the unit's output plays from frame `position` on, in a cycle that was
  /// due when `clock` reached that frame.
  @_noLocks
  mutating func play(
    _ played: borrowing SampleBuffer, at position: Int, frames: Int, clock: ClockEstimate,
    now: UInt64
  ) {
    bridge.followInput(clock)
    poll(at: now)
    guard bridge.hasReadings else { return }
    mapped.copy(played, frames: frames)
    _ = bridge.steer(frames: Int(clamping: Double(frames) * outputPerUnit + 0.5), at: now)
    far.play(mapped, at: position, frames: frames, &bridge, at: now)
  }

  /// Reads the position of the output.
  @_noLocks
  mutating func poll(at now: UInt64) {
    if far.reattach(&bridge, at: now), isLost {
      isLost = false
      event = .secondaryOutputReturned
    }
    guard let readiness = far.poll(&bridge, at: now) else { return }
    if case .lost = readiness {
      isLost = true
      event = .secondaryOutputLost
    } else {
      xruns += 1
    }
    // The driver may take a while to start the output again, so another thread does it.
    far.detach()
  }

  /// Stops the output at once.
  mutating func stop() { far.stop() }

  /// Returns the drift and xruns of the output.
  @_noLocks
  func reading(at now: UInt64) -> SecondaryOutputReading {
    SecondaryOutputReading(drift: bridge.reading(at: now), xruns: xruns)
  }
}

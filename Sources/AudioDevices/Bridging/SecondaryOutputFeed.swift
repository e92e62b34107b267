// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// One secondary output: its own bridge from the unit's clock to its clock.
///
/// Nothing here waits. An output that ran dry, stalled or went away is parted with, and taken back
/// when it runs again.
struct SecondaryOutputFeed: ~Copyable {
  /// What it is and how late.
  let stream: SecondaryOutput
  /// What happened to it, where that is still to be told.
  var event: TimelineEvent.Kind?
  private var bridge: ClockDomainBridge
  private var far: AsynchronousOutput
  private var mapped: SampleBuffer
  private var xruns = 0
  private var isLost = false
  /// Output frames for one of the unit's.
  private let outputPerUnit: Double

  /// A feed for `output`, behind a unit of this configuration. Throws where no thread can be made
  /// that looks for it after an xrun.
  init(
    _ output: consuming DeviceStream, _ unit: DuplexConfiguration, quality: ConversionQuality,
    telling news: MutexBox<DeviceReturn?>
  ) throws(DeviceFailure) {
    let granted = output.configuration
    let rate = Double(unit.sampleRate)
    let reach = Double(quality.reach(of: unit.sampleRate, to: granted.sampleRate))
    // The unit comes once a period, and may be late by half of one or a millisecond.
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
      leastQueuedFrames: (own + Double(margin)) * outputPerUnit)
    mapped = SampleBuffer(frameCount: unit.periodFrames, channelCount: granted.channelCount)
    stream = SecondaryOutput(
      device: granted.device, sampleRate: granted.sampleRate, channelCount: granted.channelCount,
      latencyFrames: latency)
    self.outputPerUnit = outputPerUnit
    guard far.enableReconnection(telling: news) else {
      throw .noThread(waitingFor: granted.device)
    }
  }

  /// Gets it going.
  mutating func start(at now: UInt64) throws(DeviceFailure) {
    try far.start(&bridge, at: now)
  }

  /// The unit's clock jumped.
  @_noLocks
  mutating func restartInput() { bridge.restartInput() }

  /// Whether more looks would make its clock much better known.
  var isNoisy: Bool {
    @_noLocks mutating get { bridge.output.isNoisy }
  }

  /// The numbers of the unit's frames are higher by `frames` from now on.
  @_noLocks
  mutating func renumberInput(by frames: Int) { bridge.renumberInput(by: frames) }

  /// Plays what the unit's output played as frame `place` and after, in a cycle that was due when
  /// `clock` showed that.
  @_noLocks
  mutating func play(
    _ played: borrowing SampleBuffer, at place: Int, frames: Int, clock: ClockEstimate,
    now: UInt64
  ) {
    bridge.followInput(clock)
    look(at: now)
    guard bridge.knowsTime else { return }
    mapped.copy(played, frames: frames)
    _ = bridge.steer(frames: Int(clamping: Double(frames) * outputPerUnit + 0.5), at: now)
    far.play(mapped, at: place, frames: frames, &bridge, at: now)
  }

  /// Looks where it is.
  @_noLocks
  mutating func look(at now: UInt64) {
    if far.reattach(&bridge, at: now), isLost {
      isLost = false
      event = .secondaryOutputReturned
    }
    guard let trouble = far.look(&bridge, at: now) else { return }
    if case .lost = trouble {
      isLost = true
      event = .secondaryOutputLost
    } else {
      xruns += 1
    }
    // Starting it anew may take its driver a while: not here.
    far.detach()
  }

  /// Stops it at once.
  mutating func stop() { far.stop() }

  /// How it does.
  @_noLocks
  func reading(at now: UInt64) -> SecondaryOutputReading {
    SecondaryOutputReading(drift: bridge.reading(at: now), xruns: xruns)
  }
}

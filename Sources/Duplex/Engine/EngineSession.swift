import AudioDevices
import AudioSessions
import RealtimeAudio

/// One session of an engine on one device: its mixer, and the values that other threads exchange
/// with the mixer.
struct EngineSession: ~Copyable {
  let handoffs: MixerHandoffs
  private var protection: ProtectionView?
  private var meter: MeterView?
  private var outputMeter: MeterView?
  private let truePeakMeter: TruePeakMeterView?
  private var mixer: Mixer
  private let fadeFrames: Int
  private let player: AudioPlayer

  /// Creates a session on a device with this configuration, with `parts` on its mixer.
  ///
  /// Throws if the player still belongs to another session.
  init(
    _ configuration: DuplexConfiguration, _ settings: DuplexEngine.Settings,
    _ control: SessionControl,
    player: AudioPlayer, _ parts: inout MixerParts
  ) throws(DeviceFailure) {
    mixer = Mixer(configuration)
    handoffs = MixerHandoffs(control)
    self.player = player
    let hasOutput = configuration.playback != nil
    let monitors = settings.monitorsMicrophone && configuration.capture != nil && hasOutput
    control.install(on: &mixer, configuration, playsMicrophone: monitors)
    if hasOutput {
      mixer.holdPlayer(try player.attach(to: configuration))
      mixer.endsWithPlayer = settings.endsWithPlayer
    }
    if settings.measuresLevels { meter = mixer.measureMicrophone(configuration) }
    if settings.measuresOutputLevels, hasOutput {
      outputMeter = mixer.measureOutput(configuration)
      truePeakMeter = mixer.measureTruePeak(configuration)
    } else {
      truePeakMeter = nil
    }
    if monitors {
      protection = mixer.protectListener(settings.protection, configuration)
    }
    fadeFrames = protection?.fadeFrames ?? 0
    handoffs.install(on: &mixer, &parts)
  }

  /// The number of frames by which the limiter of this session delays the output.
  var limiterDelayFrames: Int {
    switch protection {
    case .some(let protection): protection.delayFrames
    case .none: 0
    }
  }

  /// The figures of the output of this session so far.
  var outputFigures: OutputFigures {
    var figures = OutputFigures()
    switch protection {
    case .some(let protection): figures.limitedFrames = protection.limitedFrames
    case .none: break
    }
    switch truePeakMeter {
    case .some(let meter):
      figures.clippedFrames = meter.clippedFrames
      figures.truePeakDBTP = meter.truePeakDBTP
    case .none: break
    }
    return figures
  }

  /// Returns the output's levels since the last call; nil if there are none.
  mutating func nextOutputLevels() -> MeterReading? { outputMeter?.loudest() }

  /// Returns the next event of the feedback suppressor; nil if there is none.
  mutating func nextFeedback() -> FeedbackEvent? { protection?.nextEvent() }

  /// Returns the runner of the session on `open`. Must be called only once: the mixer moves to the
  /// runner.
  mutating func runner(
    on open: consuming OpenDevice, resuming end: CycleTime?, work: SharedWork, frameLimit: Int?,
    reconnects: Bool
  ) -> SessionRunner<Mixer> {
    var mixer = Mixer(periodFrames: 1, captureChannels: 0, playbackChannels: 0)
    swap(&mixer, &self.mixer)
    // In real time, the work has separate threads.
    let stepped: [any BackgroundWork] = open.clock.isVirtual ? [work] : []
    return SessionRunner(
      device: open.device, callbacks: mixer,
      background: open.background + player.background + stepped,
      meter: meter.take(),
      frameLimit: frameLimit, fadeFrames: fadeFrames, reconnects: reconnects, resuming: end)
  }
}

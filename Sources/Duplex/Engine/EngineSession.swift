import AudioDevices
import AudioSessions
import RealtimeAudio

/// One session of an engine on one device: its mixer, and the values that other threads exchange
/// with the mixer.
struct EngineSession: ~Copyable {
  let handoffs: MixerHandoffs
  private var protection: ProtectionView?
  private var meter: MeterView?
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
    if monitors {
      protection = mixer.protectListener(settings.protection, configuration)
    }
    fadeFrames = protection?.fadeFrames ?? 0
    handoffs.install(on: &mixer, &parts)
  }

  /// The number of frames that the limiter of this session has lowered, and the number by which it
  /// delays the output.
  var limiter: (limitedFrames: Int, delayFrames: Int) {
    switch protection {
    case .some(let protection): (protection.limitedFrames, protection.delayFrames)
    case .none: (0, 0)
    }
  }

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

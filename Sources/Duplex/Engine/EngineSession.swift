import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// One session of an engine on one device: its mixer, and what other threads exchange on it.
struct EngineSession: ~Copyable {
  let handoffs = MixerHandoffs()
  let home = MutexBox<MixerParts?>(nil)
  private(set) var feedback: FeedbackEventReader?
  private var meter: MeterView?
  private var mixer: Mixer
  private let fadeFrames: Int
  private let player: AudioPlayer

  /// A session on a device of this configuration.
  ///
  /// Throws where the player still belongs to another session.
  init(
    _ configuration: DuplexConfiguration, _ settings: DuplexEngine.Settings, _ gains: EngineGains,
    effects: consuming EffectInsert, player: AudioPlayer
  ) throws(DeviceFailure) {
    let (capture, playback) = (configuration.capture, configuration.playback)
    mixer = Mixer(configuration)
    let monitors = settings.monitorsMicrophone && capture != nil && playback != nil
    gains.install(on: &mixer, configuration, monitors: monitors)
    if playback != nil {
      mixer.player = try player.attach(to: configuration)
      mixer.endsWithPlayer = settings.endsWithPlayer
    }
    self.player = player
    let rate = configuration.sampleRate
    if let capture, settings.measuresLevels {
      let readings = SampleWriter(
        frameCount: 64, channelCount: Meter.readingWidth(capture.channelCount))
      meter = MeterView(readings: readings.makeReader(), channelCount: capture.channelCount)
      mixer.meter = Meter(
        readings: readings, channelCount: capture.channelCount, sampleRate: rate)
    }
    fadeFrames = monitors ? MonitorProtection.fadeFrames(at: rate) : 0
    guard monitors else { return }
    mixer.insert = consume effects
    var protection = MonitorProtection(
      sampleRate: rate, dimRequest: AtomicCounter().makeView())
    if let limit = settings.limitDBFS {
      protection.limiter = Limiter(limit: Gain(decibels: limit).factor, sampleRate: rate)
    }
    if settings.suppressesFeedback {
      let events = FeedbackEventWriter(sampleRate: rate)
      feedback = events.makeReader()
      protection.feedbackGuard = FeedbackSuppressor(
        sampleRate: rate, channelCount: playback?.channelCount ?? 1,
        fullScale: gains.monitor.value.factor * gains.input.value.factor, events: events)
    }
    mixer.protection = consume protection
  }

  /// What a feedback suppressor did since the last time.
  mutating func nextFeedback() -> FeedbackEvent? { feedback?.next() }

  /// The runner of it on `open`, with `parts` on its mixer. Once: the mixer goes with it.
  mutating func runner(
    on open: consuming OpenDevice, _ parts: inout MixerParts, work: SharedWork, frameLimit: Int?,
    reconnects: Bool
  ) -> SessionRunner<EngineCallbacks> {
    var mixer = Mixer(periodFrames: 1, captureChannels: 0, playbackChannels: 0)
    swap(&mixer, &self.mixer)
    parts.install(on: &mixer)
    let resuming = parts.end
    // Where time is real, work has threads of its own.
    let stepped: [any BackgroundWork] = open.clock.isVirtual ? [work] : []
    return SessionRunner(
      device: open.device, callbacks: EngineCallbacks(mixer, handoffs, home: home),
      background: open.background + player.background + stepped,
      meter: meter.take(),
      frameLimit: frameLimit, fadeFrames: fadeFrames, reconnects: reconnects, resuming: resuming)
  }
}

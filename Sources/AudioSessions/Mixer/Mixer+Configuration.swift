import AudioBasics
import AudioDevices
import RealtimeAudio

extension Mixer {
  /// Creates a mixer between the input and the output of a unit with this configuration.
  public init(_ configuration: DuplexConfiguration) {
    self.init(
      periodFrames: configuration.periodFrames,
      captureChannels: configuration.capture?.channelCount ?? 0,
      playbackChannels: configuration.playback?.channelCount ?? 0)
  }

  /// Throws `.invalidRequest` if the mixer was made for other channels or a shorter period, or if
  /// the player is attached to a unit of another rate, period or number of channels.
  public borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {
    try checkShape(configuration)
    try player?.check(configuration)
  }

  /// The number of frames by which the limiter delays the output: its look-ahead.
  public var outputDelayFrames: Int {
    switch protection {
    case .some(let protection): protection.delayFrames
    case .none: 0
    }
  }

  /// Measures the levels of the microphone `readingsPerSecond` times per second. Returns the view
  /// from which another thread reads them; nil without an input. Before the first cycle.
  public mutating func measureMicrophone(
    _ configuration: DuplexConfiguration, readingsPerSecond: Int = 10
  ) -> MeterView? {
    Self.measure(configuration.capture, into: &inputMeter, configuration, readingsPerSecond)
  }

  /// Measures the levels of the output `readingsPerSecond` times per second. Returns the view from
  /// which another thread reads them; nil without an output. Before the first cycle.
  public mutating func measureOutput(
    _ configuration: DuplexConfiguration, readingsPerSecond: Int = 10
  ) -> MeterView? {
    Self.measure(configuration.playback, into: &outputMeter, configuration, readingsPerSecond)
  }

  /// Measures the true peak of the output, and counts its clipped frames. Returns the view from
  /// which another thread reads both; without an output they remain at silence. Before the first
  /// cycle.
  public mutating func measureTruePeak(_ configuration: DuplexConfiguration) -> TruePeakMeterView {
    let meter = TruePeakMeter(
      sampleRate: configuration.sampleRate,
      channelCount: configuration.playback?.channelCount ?? 1)
    let view = meter.makeView()
    if configuration.playback != nil { truePeakMeter = consume meter }
    return view
  }

  private static func measure(
    _ stream: StreamConfiguration?, into meter: inout Meter?, _ configuration: DuplexConfiguration,
    _ readingsPerSecond: Int
  ) -> MeterView? {
    guard let channels = stream?.channelCount, channels > 0 else { return nil }
    let readings = SampleWriter(frameCount: 64, channelCount: Meter.readingWidth(channels))
    let view = MeterView(readings: readings.makeReader(), channelCount: channels)
    meter = Meter(
      readings: readings, channelCount: channels, sampleRate: configuration.sampleRate,
      readingsPerSecond: readingsPerSecond)
    return view
  }

  /// Adds the limiter and the feedback suppressor of `settings`. The gains of the microphone must
  /// be set before. Returns a view of both for another thread. Before the first cycle.
  public mutating func protectListener(
    _ settings: ProtectionSettings, _ configuration: DuplexConfiguration
  ) -> ProtectionView {
    let rate = configuration.sampleRate
    let dimRequest = PublishedFlag()
    var protection = MonitorProtection(
      sampleRate: rate, dimRequest: dimRequest.makeView(),
      limiter: settings.makeLimiter(configuration))
    protection.dimGain = settings.dimGain
    var events: FeedbackEventReader?
    var ducks = PublishedValue().makeView()
    if settings.suppressesFeedback {
      let writer = FeedbackEventWriter(sampleRate: rate)
      events = writer.makeReader()
      let fullScale = microphoneGain.factor
      let suppressor = FeedbackSuppressor(
        sampleRate: rate, channelCount: configuration.playback?.channelCount ?? 1,
        fullScale: fullScale > 0 ? fullScale : 1, events: writer)
      ducks = suppressor.makeDuckView()
      protection.feedbackSuppressor = consume suppressor
    }
    let view = ProtectionView(
      dimRequest: dimRequest, limitedFrames: protection.makeLimitedView(), ducks: ducks,
      events: events, delayFrames: protection.delayFrames, fadeFrames: protection.fadeFrames)
    self.protection = consume protection
    return view
  }

  /// Keeps `player` out of the cycle until `SessionControl.usePlayer` is called; it costs nothing
  /// until then.
  package mutating func holdPlayer(_ player: consuming PlayerStage) {
    requests?.player = consume player
  }
}

import AudioBasics
import AudioDevices
import AudioFiles
import RealtimeAudio

/// A player for a queue of sources, steered from any thread while it plays: gapless across files,
/// formats and rates, sought to the frame, looped, reversed, faster, slower.
///
/// It streams: its ring holds 1.5 s. Of a source that cannot seek, the first 8 s (at most 16 MB)
/// are kept as well, so that it can start again. `attach` gives its half on the audio thread, to be
/// put on a `Mixer`; `background` is what a `SessionRunner` runs beside it. When the session is
/// over it can be attached to another device, and goes on where it was. What is asked of it is
/// heard within 60 ms on top of the unit's own latency, and always as a whole frame of the source
/// after a whole frame.
///
/// ```swift
/// let player = AudioPlayer(endsWithQueue: true)
/// player.enqueue(path: "song.flac")
/// player.play()
/// let opened = try OpenDevice(
///   opening: DeviceSelection(input: nil, output: "sim:clock=free"))
/// var mixer = Mixer(opened.configuration)
/// mixer.player = try player.attach(to: opened.configuration)
/// ```
///
/// All of it may be called from any thread, but not from the audio thread.
public final class AudioPlayer: Sendable {
  /// The properties of a unit that a player for it must know: rate, channels and period.
  public struct Shape: Sendable, Equatable {
    /// Frames a second of the unit.
    public var sampleRate: Int
    /// Channels of the unit's output.
    public var channelCount: Int
    /// Frames a cycle of the unit has at most.
    public var periodFrames: Int

    /// The shape of a unit of `sampleRate` Hz.
    public init(sampleRate: Int, channelCount: Int, periodFrames: Int) {
      self.sampleRate = sampleRate
      self.channelCount = channelCount
      self.periodFrames = periodFrames
    }

    /// The shape of a unit with this configuration; of 2 channels where it has no output.
    public init(_ configuration: DuplexConfiguration) {
      self.init(
        sampleRate: configuration.sampleRate,
        channelCount: configuration.playback?.channelCount ?? 2,
        periodFrames: configuration.periodFrames)
    }
  }

  private struct Switches: ~Copyable {
    var pause = PublishedValue()
    var gain = PublishedValue()
  }

  /// Whether a unit's run ends with the last source; otherwise the player waits for more.
  public let endsWithQueue: Bool
  /// Seconds of sound that must be there of a network source before it plays, and again after it
  /// was too slow; nil for three, or less where the network is fast.
  public let prebufferSeconds: Double?

  let list = MutexBox(QueueList())
  let listeners = PlayerListeners()
  private let requests = FeederRequests()
  private let switches: MutexBox<Switches>
  private let pauseSwitch: PublishedValueView
  private let gainView: PublishedValueView
  private let attached = MutexBox<PlayerConnection?>(nil)

  /// A player with nothing to play, paused, at unity gain, attached to no unit.
  public init(endsWithQueue: Bool = false, prebufferSeconds: Double? = nil) {
    self.endsWithQueue = endsWithQueue
    self.prebufferSeconds = prebufferSeconds
    var switches = Switches()
    switches.pause.publish(1)
    switches.gain.publish(gain: .unity)
    pauseSwitch = switches.pause.makeView()
    gainView = switches.gain.makeView()
    self.switches = MutexBox(switches)
  }

  /// Its half on the audio thread, for the output of a unit with this configuration. As
  /// `attach(to:)` with the configuration's `Shape`, and throws as that does.
  ///
  /// ```swift
  /// let opened = try OpenDevice(opening: DeviceSelection(input: nil, output: "sim:clock=free"))
  /// let player = AudioPlayer(endsWithQueue: true)
  /// var mixer = Mixer(opened.configuration)
  /// mixer.player = try player.attach(to: opened.configuration)
  /// mixer.endsWithPlayer = true
  /// let runner = SessionRunner(
  ///   device: opened.device, callbacks: mixer, background: player.background, meter: nil,
  ///   frameLimit: 4800)
  /// _ = try runner.run(clock: opened.clock) { _, _ in .proceed }
  /// player.detach()
  /// ```
  public func attach(to configuration: DuplexConfiguration) throws(DeviceFailure) -> PlayerStage {
    try attach(to: Shape(configuration))
  }

  /// Its half on the audio thread, for a unit of this shape. It goes on with the frame that was
  /// next when the session before ended, in the unit's rate and channels; queue, gain, settings,
  /// handlers and tap stay.
  ///
  /// The track that plays ends with its session (`decodingCanceled`) and goes on as a new one
  /// (`decodingStarted`). Of a source that cannot be sought and has played for more than 8 s, what
  /// was decoded ahead is left out, a second at most.
  ///
  /// Throws `.busy` while the session before still runs, and `.invalidRequest` where no unit has
  /// such a shape.
  public func attach(to shape: Shape) throws(DeviceFailure) -> PlayerStage {
    try shape.validate()
    return try attached.withLock { (attached) throws(DeviceFailure) in
      let carried = try attached?.retire(for: shape)
      let connection = PlayerConnection(
        shape,
        PlayQueue(
          list: list,
          opener: SourceOpener(sampleRate: shape.sampleRate, channelCount: shape.channelCount),
          prebufferSeconds: prebufferSeconds, carried: carried),
        listeners, requests, endsWithQueue: endsWithQueue,
        pause: { self.switches.withLock { $0.pause.makeView() } },
        gainView: { self.switches.withLock { $0.gain.makeView() } })
      attached = connection
      return connection.takePlayer()
    }
  }

  /// Ends what a session runs of it, where the session itself did not: one that could not be
  /// started. Afterwards it can be attached again.
  public func detach() {
    for work in background { work.conclude() }
  }

  /// What it has for the unit that it is, or was last, attached to.
  var connection: PlayerConnection? { attached.withLock { $0 } }

  /// What a session runs beside it since it was attached: opening ahead, decoding, telling. Empty
  /// before.
  public var background: [any BackgroundWork] { connection?.background ?? [] }

  /// Has `change` carried out by the thread that reads the sources, now or in the next session.
  /// `interrupts` where what plays may wait for a network and is not wanted any more.
  func ask(interrupts: Bool, _ change: PlayerChange) {
    let feeder = connection?.feeder
    requests.changes.withLock { changes in
      // Before the change can be seen: whoever takes it ends the interruption.
      if interrupts { feeder?.interruptWaits() }
      changes.append(change)
    }
  }
}

/// The transport of a player: play, pause, stop, gain, state and events.
extension AudioPlayer {
  /// Goes on, or begins.
  public func play() { switches.withLock { $0.pause.publish(0) } }

  /// Fades out within 5 ms and stands still.
  public func pause() { switches.withLock { $0.pause.publish(1) } }

  /// Pauses what plays, plays what is paused.
  public func togglePlayPause() {
    switches.withLock { $0.pause.publish(pauseSwitch.value == 0 ? 1 : 0) }
  }

  /// Ends what plays and clears the queue.
  public func stop() {
    pause()
    reset()
  }

  /// Has everything multiplied by `gain`, reached within 5 ms.
  public func setGain(_ gain: Gain) {
    switches.withLock { $0.gain.publish(gain: gain) }
  }

  /// By what everything is multiplied, as last set.
  public var gain: Gain { gainView.gain }

  /// Whether it is not paused and has something to play.
  public var isPlaying: Bool { state == .playing }

  /// Whether something is there to be played at once.
  public var isReady: Bool {
    connection?.queue.published.withLock { $0.spans.contains { $0.frames > 0 } } ?? false
  }

  /// What it is doing; of a player that is attached to no running unit, what it would do there.
  public var state: PlayerState {
    let connection = connection
    let hasSpans = connection?.queue.published.withLock { !$0.spans.isEmpty } ?? false
    guard hasSpans || list.withLock({ $0.hasNext }) else { return .idle }
    if pauseSwitch.value != 0 { return .paused }
    return connection?.isStarved ?? true ? .waiting : .playing
  }

  /// The rate, channels and period of the unit that it is, or was last, attached to; nil before.
  public var shape: Shape? { connection?.shape }

  /// Frames that were due and not there since it was attached: the disk or the network was too
  /// slow.
  public var starvedFrameCount: Int { connection?.starvedFrameCount ?? 0 }

  /// Frames of the player that were heard, or passed over by seeks, since it was attached: what a
  /// tap counts by.
  public var playedFrame: Int { connection?.playedFrame ?? 0 }

  /// Lets `tap` look at what is decoded from now on, and alter it; nil for none.
  public func insert(_ tap: (any PlayerTap)?) { requests.tap.withLock { $0 = tap } }

  /// Calls `handler` with each event from now on, on a thread of the session that may wait, until
  /// the returned subscription is cancelled; one call may still be under way then. Other handlers
  /// stay.
  @discardableResult
  public func addEventHandler(
    _ handler: @escaping @Sendable (PlayerEvent) -> Void
  ) -> EventSubscription {
    listeners.events.subscribe(handler)
  }

  /// Events from now on; the newest 1,024 unread ones are kept.
  public var events: AsyncStream<PlayerEvent> { listeners.events.stream(keeping: 1024) }

  /// How many seconds before a track's end it ends soon; 0, as in the beginning, for never.
  ///
  /// ```swift
  /// let player = AudioPlayer()
  /// player.setEndingSoonLead(seconds: 5)
  /// let subscription = player.addEventHandler { event in
  ///   if case .endingSoon = event.kind { print("\(event.source) ends in five seconds") }
  /// }
  /// subscription.cancel()
  /// ```
  public func setEndingSoonLead(seconds: Double) { listeners.endSoon(seconds) }

  /// The same, as last set.
  public var endingSoonLeadSeconds: Double { listeners.endingSoonSeconds }

  /// How much was played of each track that is over, of the newest 4096.
  public var playedTracks: [PlayedTrack] { listeners.playedTracks }
}

import AudioBasics
import AudioDevices
import AudioFiles
import RealtimeAudio

/// A player for a queue of sources, controlled from any thread during playback: gapless across
/// files, formats and rates, with seeks to the exact frame, loops, reverse playback and variable
/// speed.
///
/// It streams: its ring buffer holds 1.5 s. Of a source that cannot seek, the first 8 s (at most 16
/// MB) are kept as well, so that it can start again. `attach` returns the part of the player on the
/// audio thread, to be set on a `Mixer`; a `SessionRunner` runs `background`. After the session the
/// player can be attached to another device, and continues at its position. A requested change is
/// audible within 60 ms plus the unit's latency, and always between two whole frames of the source.
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
/// A setting of the player is a property, such as `gain`, `isRepeating` and `tap`: it is kept for
/// all tracks and sessions, and reads as it was last set. What concerns the current track is a
/// request to the thread that reads it, and therefore a method: `setSpeed`, `setReversed`,
/// `setRegion`, the seeks. `settings` returns the speed, direction and region that are audible.
///
/// All calls may be made on any thread but the audio thread.
public final class AudioPlayer: Sendable {
  /// The properties of a unit that a player requires: rate, channels and period.
  public struct Shape: Sendable, Equatable {
    /// The sample rate of the unit in frames per second.
    public var sampleRate: Int
    /// The number of channels of the unit's output.
    public var channelCount: Int
    /// The largest number of frames of a cycle of the unit.
    public var periodFrames: Int

    /// Creates the shape of a unit of `sampleRate` Hz.
    public init(sampleRate: Int, channelCount: Int, periodFrames: Int) {
      self.sampleRate = sampleRate
      self.channelCount = channelCount
      self.periodFrames = periodFrames
    }

    /// Creates the shape of a unit with this configuration; with 2 channels if it has no output.
    public init(_ configuration: DuplexConfiguration) {
      self.init(
        sampleRate: configuration.sampleRate,
        channelCount: configuration.playback?.channelCount ?? 2,
        periodFrames: configuration.periodFrames)
    }
  }

  private struct Switches: ~Copyable {
    var pause = PublishedFlag(true)
    var gain = PublishedGain(.unity)
  }

  /// Whether a unit's run ends with the last source; otherwise the player waits for more.
  public let endsWithQueue: Bool
  /// The duration in seconds that must be buffered of a network source before it plays, and again
  /// after it was too slow; nil for 3 s, or less if the network is fast.
  public let prebufferSeconds: Double?

  let list = MutexBox(QueueList())
  let listeners = PlayerListeners()
  private let requests = FeederRequests()
  private let switches: MutexBox<Switches>
  private let pauseSwitch: PublishedFlagView
  private let gainView: PublishedGainView
  private let attached = MutexBox<PlayerConnection?>(nil)

  /// Creates a player with nothing to play, paused, at unity gain, and not attached to a unit.
  /// `prebufferSeconds` below 0, or not a number (NaN), counts as 0.
  public init(endsWithQueue: Bool = false, prebufferSeconds: Double? = nil) {
    self.endsWithQueue = endsWithQueue
    self.prebufferSeconds = prebufferSeconds.map { $0 > 0 ? $0 : 0 }
    let switches = Switches()
    pauseSwitch = switches.pause.makeView()
    gainView = switches.gain.makeView()
    self.switches = MutexBox(switches)
  }

  /// Returns the part of the player on the audio thread, for the output of a unit with this
  /// configuration. Same as `attach(to:)` with the configuration's `Shape`, and throws as that
  /// does.
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

  /// Returns the part of the player on the audio thread, for a unit of this shape. It continues
  /// with the frame that was next at the end of the previous session, in the unit's rate and
  /// channels; queue, gain, settings, handlers and tap are kept.
  ///
  /// The current track ends with its session (`decodingCanceled`) and continues as a new one
  /// (`decodingStarted`). For a source that cannot seek and has played for more than 8 s, the
  /// frames decoded ahead are lost, one second at most.
  ///
  /// Throws `.busy` while the previous session still runs, and `.invalidRequest` if no unit has
  /// such a shape. Before the first cycle of its session, the player may be attached again, as
  /// after a wrong choice of unit: the earlier stage then plays nothing.
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

  /// Ends the background work of a session that did not end it itself, because it could not be
  /// started. After this call the player can be attached again.
  public func detach() {
    for work in background { work.conclude() }
  }

  /// The connection to the unit that the player is, or was last, attached to.
  var connection: PlayerConnection? { attached.withLock { $0 } }

  /// The background work that a session runs since the player was attached: opening ahead,
  /// decoding, and sending events. Empty before.
  public var background: [any BackgroundWork] { connection?.background ?? [] }

  /// Requests `change` from the thread that reads the sources, in this session or the next one.
  func request(_ change: PlayerChange) {
    let feeder = connection?.feeder
    requests.changes.withLock { changes in
      // This precedes the publication of the change, whose receiver ends the interruption.
      if change.interrupts { feeder?.interruptWaits() }
      changes.append(change)
    }
  }
}

/// The transport of a player: play, pause, stop, gain, state and events.
extension AudioPlayer {
  /// Starts or continues the playback.
  public func play() { switches.withLock { $0.pause.publish(false) } }

  /// Fades out within 5 ms and pauses.
  public func pause() { switches.withLock { $0.pause.publish(true) } }

  /// Pauses the playback, or continues it after a pause.
  public func togglePlayPause() {
    switches.withLock { $0.pause.publish(!pauseSwitch.isSet) }
  }

  /// Ends the current track, pauses, and clears the queue.
  public func stop() {
    pause()
    reset()
  }

  /// The gain of all tracks; a new one is reached within 5 ms.
  public var gain: Gain {
    get { gainView.gain }
    set { switches.withLock { $0.gain.publish(newValue) } }
  }

  /// Whether the player plays: it is not paused, and has frames to play.
  public var isPlaying: Bool { state == .playing }

  /// Whether there are frames that can be played at once.
  public var isReady: Bool {
    connection?.queue.published.withLock { $0.spans.contains { $0.frames > 0 } } ?? false
  }

  /// The state of the player; for a player that is not attached to a running unit, the state it
  /// would have on one.
  public var state: PlayerState {
    let connection = connection
    let hasSpans = connection?.queue.published.withLock { !$0.spans.isEmpty } ?? false
    guard hasSpans || list.withLock({ $0.hasNext }) else { return .idle }
    if pauseSwitch.isSet { return .paused }
    return connection?.isStarved ?? true ? .waiting : .playing
  }

  /// The rate, channels and period of the unit that the player is, or was last, attached to; nil
  /// before.
  public var shape: Shape? { connection?.shape }

  /// The number of frames that were due but not available since the player was attached: the disk
  /// or the network was too slow.
  public var starvedFrameCount: Int { connection?.starvedFrameCount ?? 0 }

  /// The number of the player's frames that were played, or skipped by seeks, since it was
  /// attached: the count that a tap uses.
  public var playedFrame: Int { connection?.playedFrame ?? 0 }

  /// The tap that inspects the frames decoded from now on and may alter them; nil for none.
  public var tap: (any PlayerTap)? {
    get { requests.tap.withLock { $0 } }
    set { requests.tap.withLock { $0 = newValue } }
  }

  /// Calls `handler` with each event from now on, on a thread of the session that may block, until
  /// the returned subscription is cancelled; one call may still be in progress then. Other handlers
  /// are kept.
  @discardableResult
  public func addEventHandler(
    _ handler: @escaping @Sendable (PlayerEvent) -> Void
  ) -> EventSubscription {
    listeners.events.subscribe(handler)
  }

  /// A stream of the events from now on; the newest 1,024 unread events are kept. It ends when the
  /// player is released, and the last session that used it is over.
  public var events: AsyncStream<PlayerEvent> { listeners.events.stream(keeping: 1024) }

  /// The time in seconds before a track's end at which `endingSoon` is sent; 0, the initial value,
  /// for never. A negative value counts as 0.
  ///
  /// ```swift
  /// let player = AudioPlayer()
  /// player.endingSoonLeadSeconds = 5
  /// let subscription = player.addEventHandler { event in
  ///   if case .endingSoon = event.kind { print("\(event.source) ends in five seconds") }
  /// }
  /// subscription.cancel()
  /// ```
  public var endingSoonLeadSeconds: Double {
    get { listeners.endingSoonSeconds }
    set { listeners.endSoon(newValue) }
  }

  /// The number of frames played of each track that is over, for the newest 4,096 tracks.
  public var playedTracks: [PlayedTrack] { listeners.playedTracks }
}

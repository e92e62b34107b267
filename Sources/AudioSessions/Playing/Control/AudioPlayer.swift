import AudioBasics
import AudioFiles
import RealtimeAudio

/// A player for a queue of sources, steered from any thread while it plays: gapless across files,
/// formats and rates, sought to the frame, looped, reversed, faster, slower.
///
/// It streams: of a source no more than a second is in memory. `takePlayer` is its half on the audio
/// thread, to be put on a `Mixer`; `background` is what a `SessionRunner` runs beside it. What is
/// asked of it is heard within 60 ms on top of the unit's own latency, and always as a whole frame of
/// the source after a whole frame.
public final class AudioPlayer: Sendable {
  /// How an audio player is made.
  public struct Shape: Sendable {
    /// Frames a second of the unit.
    public var sampleRate: Int
    /// Channels of the unit's output.
    public var channelCount: Int
    /// Frames a cycle of the unit has at most.
    public var periodFrames: Int
    /// Whether the unit's run ends with the last source; otherwise it waits for more.
    public var endsWithQueue = false
    /// Seconds of sound that must be there of a network source before it plays, and again after it was too
    /// slow; nil for three, or less where the network is fast.
    public var prebufferSeconds: Double?

    /// A player for a unit of this shape.
    public init(sampleRate: Int, channelCount: Int, periodFrames: Int) {
      self.sampleRate = sampleRate
      self.channelCount = channelCount
      self.periodFrames = periodFrames
    }
  }

  private struct Switches: ~Copyable {
    var pause = AtomicCounter()
    var gain = AtomicCounter()
  }

  let shape: Shape
  let queue: PlayQueue
  let feeder: QueueFeeder
  let announcer: PlayerAnnouncer
  private let opener: SourceOpener
  private let switches: MutexBox<Switches>
  private let player: MutexBox<Player?>
  let pause: CountView
  let playedCount: CountView
  private let starvation: CountView
  private let starvedFrames: CountView

  /// A player with nothing to play, paused.
  public init(_ shape: Shape) {
    let rate = shape.sampleRate
    let target = max(rate, 4 * shape.periodFrames)
    // Half as much again, so that something else can be written while the old is still heard.
    let ring = SampleWriter(frameCount: target + target / 2, channelCount: shape.channelCount)
    var switches = Switches()
    switches.pause.publish(1)
    switches.gain.publish(Int(Gain.unity.factor.bitPattern))
    let isFed = AtomicCounter()
    let enough = AtomicCounter()
    let marks = EventWriter()
    let markReader = marks.makeReader()
    let remote = PlayerRemote(
      pause: switches.pause.makeView(), gainBits: switches.gain.makeView(),
      isFed: isFed.makeView(), enough: enough.makeView(), marks: marks, rampFrames: rate / 200)
    playedCount = remote.makePlayedView()
    starvation = remote.makeStarvationView()
    pause = switches.pause.makeView()
    opener = SourceOpener(sampleRate: rate, channelCount: shape.channelCount)
    queue = PlayQueue(opener: opener, prebufferSeconds: shape.prebufferSeconds)
    announcer = PlayerAnnouncer(
      queue: queue, playedCount: remote.makePlayedView(), starvation: remote.makeStarvationView(),
      isPaused: switches.pause.makeView(), marks: markReader, sampleRate: rate)
    let feederStarvation = remote.makeStarvationView()
    let voice = Player(
      ring: ring.makeReader(), channelCount: shape.channelCount,
      periodFrames: shape.periodFrames, remote: remote)
    starvedFrames = voice.makeStarvationView()
    feeder = QueueFeeder(
      ring: ring, queue: queue, channelCount: shape.channelCount, targetFrames: target,
      leadFrames: rate / 50 + 2 * shape.periodFrames, endsWithQueue: shape.endsWithQueue,
      QueueFeeder.Signals(
        isPaused: switches.pause.makeView(), starvation: feederStarvation, isFed: isFed,
        enough: enough))
    self.shape = shape
    self.switches = MutexBox(switches)
    player = MutexBox(voice)
  }

  /// Its half on the audio thread. There is one: the second time it is nil.
  public func takePlayer() -> Player? {
    player.withLock { $0.take() }
  }

  /// What a session runs beside it: opening ahead, decoding, telling.
  public var background: [any BackgroundWork] { [opener, feeder, announcer] }

  /// Frames that were due and not there: the disk or the network was too slow.
  public var starvedFrameCount: Int { starvedFrames.value }

  /// Goes on, or begins.
  public func play() { switches.withLock { $0.pause.publish(0) } }

  /// Fades out within 5 ms and stands still.
  public func pausePlayback() { switches.withLock { $0.pause.publish(1) } }

  /// Pauses what plays, plays what is paused.
  public func togglePlayPause() {
    switches.withLock { $0.pause.publish(pause.value == 0 ? 1 : 0) }
  }

  /// Ends what plays and clears the queue.
  public func stop() {
    pausePlayback()
    clearQueue()
    cancelCurrent()
  }

  /// Has everything multiplied by `gain`, reached within 5 ms.
  public func setGain(_ gain: Gain) {
    switches.withLock { $0.gain.publish(Int(gain.factor.bitPattern)) }
  }

  /// Whether it is not paused and has something to play.
  public var isPlaying: Bool { state == .playing }

  /// Whether something is there to be played at once.
  public var isReady: Bool { queue.published.withLock { $0.spans.contains { $0.frames > 0 } } }

  /// What it is doing.
  public var state: PlayerState {
    let hasSpans = queue.published.withLock { !$0.spans.isEmpty }
    guard hasSpans || queue.list.withLock({ $0.hasNext }) else { return .idle }
    if pause.value != 0 { return .paused }
    return starvation.value != 0 ? .waiting : .playing
  }

  /// Frames of the player that were heard, or passed over by seeks: what a tap counts by.
  public var playedFrame: Int { playedCount.value }

  /// Lets `tap` look at what is decoded from now on, and alter it; nil for none.
  public func insert(_ tap: (any PlayerTap)?) { feeder.insert(tap) }

  /// Has `handler` told what happens, on a thread of its own.
  public func onEvent(_ handler: (@Sendable (PlayerEvent) -> Void)?) { announcer.emit(handler) }

  /// How many seconds before a turn's end it ends soon; 0, as in the beginning, for never.
  public func setEndingSoonLead(seconds: Double) { announcer.endSoon(seconds) }

  /// What was heard of each turn that is over, the newest 4096.
  public var playedTracks: [PlayedTrack] { announcer.playedTracks }
}

/// What is to be played.
extension AudioPlayer {
  /// Plays `item` when everything before it is over.
  public func enqueue(_ item: QueueItem) { enqueue([item]) }

  /// Plays `items`, one after the other, when everything before them is over.
  public func enqueue(_ items: [QueueItem]) {
    queue.list.withLock { $0.append(items) }
  }

  /// Plays what `decoder` gives when everything before it is over. The decoder belongs to the player
  /// from now on, and can be played once.
  public func enqueue(
    _ decoder: sending any SoundDecoder, settings: TrackSettings = TrackSettings()
  ) {
    enqueue(QueueItem(.once(decoder, settings: settings)))
  }

  /// Plays what is behind an http or https address when everything before it is over. It is opened
  /// ahead; what cannot be is told as an event when its turn comes.
  public func enqueue(address: String, settings: TrackSettings = TrackSettings()) {
    enqueue(QueueItem(.address(address, settings: settings)))
  }

  /// Plays the file `path` when everything before it is over. What cannot be opened is told as an
  /// event when its turn comes.
  public func enqueue(path: String, settings: TrackSettings = TrackSettings()) {
    enqueue(QueueItem(.file(path, settings: settings)))
  }

  /// Ends what plays, forgets the queue and plays `item`.
  public func resetAndEnqueue(_ item: QueueItem) {
    clearQueue()
    cancelCurrent()
    enqueue(item)
  }

  /// Ends what plays; the next in the queue, if there is one, follows without a gap.
  public func cancelCurrent() { skip(by: 1) }

  /// Forgets what has not begun.
  public func clearQueue() {
    _ = queue.list.withLock { $0.remove(all: true) }
  }

  /// Whether nothing waits behind what plays.
  public var isQueueEmpty: Bool {
    queue.list.withLock { $0.isRoundOver }
  }

  /// Takes the next item out of the queue.
  public func dequeue() -> QueueItem? {
    queue.list.withLock { $0.remove(all: false) }.first
  }

  /// Whether the queue begins anew at its end, and then in another order.
  public func setRepeating(_ repeats: Bool, shuffles: Bool = false) {
    queue.list.withLock { list in
      list.repeats = repeats
      list.shuffles = shuffles
    }
  }

  /// Goes on with the item that number of places further on in the queue; below 0 back, 0 from its
  /// beginning.
  public func skip(by count: Int) {
    feeder.ask(
      interrupts: true,
      .work { queue, frame in
        let place = queue.published.withLock { $0.span(at: frame)?.track.place }
        queue.list.withLock { $0.skip(to: (place ?? $0.next.moved(by: -1)).moved(by: count)) }
        queue.cut(at: frame)
        return true
      })
  }
}

extension QueueItem.Part {
  /// What is behind an http or https address.
  public static func address(
    _ address: String, settings: TrackSettings = TrackSettings()
  ) -> QueueItem.Part {
    QueueItem.Part(
      name: address, takesTime: true, settings: { _ throws(FileFailure) in settings },
      open: { opening throws(FileFailure) in
        try opening.decoder(ofAddress: address)
      })
  }

  /// The sound file `path`; standard input where it is `-`.
  public static func file(
    _ path: String, settings: TrackSettings = TrackSettings()
  ) -> QueueItem.Part {
    QueueItem.Part(
      name: path, settings: { _ throws(FileFailure) in settings },
      open: { _ throws(FileFailure) in try Decoding.decoder(forPath: path) })
  }

  /// A decoder that is there already.
  static func once(
    _ decoder: sending any SoundDecoder, settings: TrackSettings
  ) -> QueueItem.Part {
    let name = decoder.name
    let box = GivenDecoder(decoder)
    return QueueItem.Part(
      name: name, settings: { _ throws(FileFailure) in settings },
      open: { _ throws(FileFailure) in
        if box.decoder.position != 0 { try box.decoder.seek(toFrame: 0) }
        return box.decoder
      })
  }
}

extension QueueItem.Part {
  /// Has `decoder` begin anew instead of opening another.
  mutating func restart(_ decoder: RestartableDecoder) {
    let box = GivenDecoder(keeping: decoder)
    takesTime = false
    open = { _ throws(FileFailure) in
      try box.decoder.seek(toFrame: 0)
      return box.decoder
    }
  }
}

/// A decoder on its way to the thread that reads it.
private struct GivenDecoder: @unchecked Sendable {
  // @unchecked because the giver does not use it any more.
  let decoder: any SoundDecoder

  init(_ decoder: sending any SoundDecoder) { self.decoder = decoder }

  /// Of a source that was ended before it was heard, and is not read any more.
  init(keeping decoder: RestartableDecoder) { self.decoder = decoder }
}

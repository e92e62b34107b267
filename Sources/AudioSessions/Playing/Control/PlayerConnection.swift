import AudioBasics
import AudioDevices
import AudioFiles
import RealtimeAudio

/// The connection of a player to one unit: a ring buffer, the feeder that fills it, and the
/// announcer of its events. Created when the player is attached, and over with the unit's session.
final class PlayerConnection: Sendable {
  let shape: AudioPlayer.Shape
  let queue: PlayQueue
  let feeder: QueueFeeder
  private let announcer: PlayerAnnouncer
  private let player: MutexBox<PlayerStage?>
  private let playedCount: PublishedValueView
  private let starvation: PublishedFlagView
  private let starvedFrames: PublishedValueView

  /// Creates a connection for a unit of this shape, fed from `queue`. `pause` and `gainView` return
  /// views of the player's controls.
  init(
    _ shape: AudioPlayer.Shape, _ queue: PlayQueue, _ listeners: PlayerListeners,
    _ requests: FeederRequests, endsWithQueue: Bool, pause: () -> PublishedFlagView,
    gainView: () -> PublishedGainView
  ) {
    let rate = shape.sampleRate
    let target = max(rate, 4 * shape.periodFrames)
    // The ring buffer is 50 % larger, so that other frames can be written while the old ones are
    // still played.
    let ring = SampleWriter(frameCount: target + target / 2, channelCount: shape.channelCount)
    let isFed = PublishedFlag()
    let prebufferTarget = PublishedValue()
    let marks = EventWriter<PlayerMark>()
    let markReader = marks.makeReader()
    let playerRequests = PlayerRequests(
      pause: pause(), gainView: gainView(), isFed: isFed.makeView(),
      prebufferTarget: prebufferTarget.makeView(),
      marks: marks, rampFrames: rate / 200, fadesIn: queue.resumes)
    playedCount = playerRequests.makePlayedView()
    starvation = playerRequests.makeStarvationView()
    announcer = PlayerAnnouncer(
      queue: queue, listeners: listeners, playedCount: playerRequests.makePlayedView(),
      starvation: playerRequests.makeStarvationView(), isPaused: pause(), marks: markReader,
      sampleRate: rate)
    let feederStarvation = playerRequests.makeStarvationView()
    let stage = PlayerStage(
      ring: ring.makeReader(), shape: shape, requests: playerRequests, pause: pause())
    starvedFrames = stage.makeStarvationView()
    feeder = QueueFeeder(
      ring: ring, queue: queue, requests: requests, channelCount: shape.channelCount,
      targetFrames: target, leadFrames: rate / 50 + 2 * shape.periodFrames,
      endsWithQueue: endsWithQueue,
      QueueFeeder.Signals(
        isPaused: pause(), starvation: feederStarvation, isFed: isFed,
        prebufferTarget: prebufferTarget))
    self.shape = shape
    self.queue = queue
    player = MutexBox(stage)
  }

  /// Returns the part of the player on the audio thread. There is only one.
  func takePlayer() -> PlayerStage {
    guard let player = player.withLock({ $0.take() }) else {
      requirementFailed("A player has one half on the audio thread, and it was taken already.")
    }
    return player
  }

  /// The background work that a session runs for the player.
  var background: [any BackgroundWork] { [queue.opener, feeder, announcer] }

  /// The number of frames of the ring buffer that were played or skipped.
  var playedFrame: Int { playedCount.value }

  /// Whether frames that were due are not available.
  var isStarved: Bool { starvation.isSet }

  /// The number of frames that were due but not available.
  var starvedFrameCount: Int { starvedFrames.value }

  /// Ends the connection permanently, and returns the state that continues in a queue for a unit of
  /// another shape. Throws `.busy` while its session runs.
  func retire(for shape: AudioPlayer.Shape) throws(DeviceFailure) -> CarriedQueue {
    let isLeft = try feeder.retire()
    return queue.carry(
      from: playedFrame, keepingDecoders: isLeft,
      rateFactor: Double(self.shape.sampleRate) / Double(shape.sampleRate))
  }
}

extension AudioPlayer.Shape {
  /// Throws `.invalidRequest` if no unit has this shape.
  func validate() throws(DeviceFailure) {
    // A device may grant a longer period than may be requested.
    guard DuplexRequest.sampleRates.contains(sampleRate),
      DuplexRequest.channelRange.contains(channelCount),
      (1...DuplexRequest.maximumBufferFrames).contains(periodFrames)
    else {
      throw DeviceFailure(
        .invalidRequest,
        "A player for \(channelCount.counted("channel")) at \(sampleRate) Hz in periods of \(periodFrames) frames is "
          + "impossible.", hint: "Make its shape from the device's configuration.")
    }
  }

  /// Throws `.invalidRequest` if a player of this shape would play incorrectly on a unit with this
  /// configuration.
  func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {
    let unit = AudioPlayer.Shape(configuration)
    guard sampleRate == unit.sampleRate, channelCount == unit.channelCount,
      periodFrames >= unit.periodFrames
    else {
      throw DeviceFailure(
        .invalidRequest,
        "The player is attached to a unit of \(channelCount.counted("channel")) at \(sampleRate) Hz in periods of "
          + "\(periodFrames) frames, and this one has \(unit.channelCount) at \(unit.sampleRate) Hz in periods "
          + "of \(unit.periodFrames).", hint: "Attach it to this device's configuration.")
    }
  }
}

extension PlayerStage {
  /// Throws `.invalidRequest` if the stage was created for a unit with another rate or number of
  /// channels, or with a shorter period, than one with this configuration. A stage that plays from
  /// a ring buffer alone has no rate.
  public borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {
    let made =
      shape
      ?? AudioPlayer.Shape(
        sampleRate: configuration.sampleRate, channelCount: buffer.channelCount,
        periodFrames: buffer.frameCount)
    try made.check(configuration)
  }
}

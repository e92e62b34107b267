// Audio thread.

import AudioBasics
import AudioDevices
import RealtimeAudio

/// The audio thread's part of playback: it reads frames from the ring buffer that the disk thread's
/// part (`PlayFeeder`, `QueueFeeder`) keeps full.
public struct PlayerStage: MixerStage, ~Copyable {
  private var ring: SampleReader
  var buffer: SampleBuffer
  private var starvedFrames = 0
  /// The number of frames to be skipped before playback continues.
  private var overdueFrames = 0
  /// Whether every frame belongs to a moment of the unit's timeline: frames that were not played in
  /// time are then skipped rather than played later.
  public var keepsTimeline = false
  private var starved = PublishedValue()
  /// The shape of the unit for which it was created; nil if none was given.
  let shape: AudioPlayer.Shape?
  /// The controls, if there are any, and the view of their pause switch.
  private var requests: PlayerRequests?
  private let pause: PublishedFlagView
  /// Whether the last frame has been read.
  public private(set) var isFinished = false
  /// Whether the stage was idle in the last cycle.
  private var isAtRest = false
  /// The number of frames that it added in the last cycle.
  public private(set) var playedFrames = 0

  /// Creates a stage that plays the frames of `ring`, at most `periodFrames` per cycle.
  public init(ring: consuming SampleReader, channelCount: Int, periodFrames: Int) {
    self.ring = ring
    buffer = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
    shape = nil
    requests = nil
    pause = PublishedFlag().makeView()
  }

  init(
    ring: consuming SampleReader, shape: AudioPlayer.Shape, requests: consuming PlayerRequests,
    pause pauseView: consuming PublishedFlagView
  ) {
    self.ring = ring
    pause = pauseView
    buffer = SampleBuffer(frameCount: shape.periodFrames, channelCount: shape.channelCount)
    self.shape = shape
    self.requests = consume requests
  }

  /// Returns a view of the number of frames that were due but not available: the disk or the
  /// network was too slow.
  public borrowing func makeStarvationView() -> PublishedValueView {
    starved.makeView()
  }

  /// The number of frames played so far.
  public var frameCount: Int {
    @_noLocks get { ring.frameCount }
  }

  /// Adds the next frames to those of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    if isAtRest && remainsAtRest() { return }
    let (frames, time) = (bus.frames, bus.time)
    if keepsTimeline { overdueFrames &+= time.lostFrames }
    // The order matters: the frames that are queued after the end was announced are all there will
    // be.
    let isLast = ring.isFinished
    discardOverdueFrames()
    var wanted = overdueFrames > 0 ? 0 : frames
    if requests != nil {
      wanted = requests?.wanted(wanted, queued: ring.available, isLast: isLast) ?? 0
    }
    // Replaced frames are skipped during a pause, too.
    if wanted == 0 && requests != nil {
      ring.passReplaced()
      requests?.note(upTo: ring.frameCount, frames: 0, at: 0, of: time)
    }
    var count = 0
    // It is repeated up to twice if frames were removed from the ring buffer.
    var turns = 0
    while count < wanted && turns < 3 {
      let some = ring.read(into: &buffer, at: count, frames: wanted &- count)
      requests?.note(upTo: ring.frameCount, frames: some, at: count, of: time)
      count &+= some
      turns &+= 1
    }
    requests?.process(&buffer, frames: count)
    bus.add(&buffer, frames: count)
    playedFrames = count
    isAtRest =
      count == 0 && overdueFrames == 0 && requests?.isFadedOut == true && ring.available == 0
    if count < frames { fallShort(by: frames &- count, isLast: isLast && ring.available == 0) }
  }

  /// Returns whether the stage is paused with nothing queued, as in the last cycle: then there is
  /// nothing to do.
  @_noLocks
  private mutating func remainsAtRest() -> Bool {
    pause.isSet && ring.available == 0 && !ring.isFinished
  }

  @_noLocks
  private mutating func fallShort(by frames: Int, isLast: Bool) {
    if isLast {
      isFinished = true
    } else if requests?.isSilent != true && requests?.starve() != false {
      starvedFrames &+= frames
      starved.publish(starvedFrames)
      if keepsTimeline { overdueFrames &+= frames }
    }
  }

  /// Discards the overdue frames as far as they are available.
  @_noLocks
  private mutating func discardOverdueFrames() {
    // The work of one cycle is bounded; the next cycle discards the rest.
    var turns = 0
    while overdueFrames > 0 && turns < 256 {
      let count = ring.read(into: &buffer, frames: min(overdueFrames, buffer.frameCount))
      if count == 0 { return }
      overdueFrames &-= count
      turns &+= 1
    }
  }
}

/// The audio thread's end of a player's controls: pause, gain, and waiting for a network. It
/// reports the positions of the played frames on the timeline.
struct PlayerRequests: ~Copyable {
  /// The values set by other threads: whether the player is paused, its gain, whether more frames
  /// will follow, and how many must be queued before a starved player continues.
  private let pause: PublishedFlagView
  private let gainView: PublishedGainView
  private let isFed: PublishedFlagView
  private let prebufferTarget: PublishedValueView
  /// The published values: the number of frames of the ring buffer played or skipped; whether
  /// frames were due but not available, and not enough have arrived since; the position on the
  /// timeline at which playback continues.
  private var playedCount = PublishedValue()
  private var starvation = PublishedFlag(true)
  private var marks: EventWriter<PlayerMark>
  /// The number of frames that a change of gain takes.
  private let rampFrames: Int
  private var gain = SmoothedGain(.silence)
  private var isStarved = true
  private var hasBegun = false
  /// Whether the first frame is in the middle of a track.
  private let fadesIn: Bool
  /// The next frame of the ring buffer, and its distance from the timeline as last reported.
  private var nextFrame = 0
  private var offset = Int.min

  init(
    pause: consuming PublishedFlagView, gainView: consuming PublishedGainView,
    isFed: consuming PublishedFlagView,
    prebufferTarget: consuming PublishedValueView, marks: consuming EventWriter<PlayerMark>,
    rampFrames: Int,
    fadesIn: Bool
  ) {
    self.pause = pause
    self.gainView = gainView
    self.isFed = isFed
    self.prebufferTarget = prebufferTarget
    self.marks = marks
    self.rampFrames = max(1, rampFrames)
    self.fadesIn = fadesIn
  }

  /// Returns a view of the number of frames of the ring buffer that were played or skipped.
  borrowing func makePlayedView() -> PublishedValueView { playedCount.makeView() }

  /// Returns a view that is set while frames that were due are not available.
  borrowing func makeStarvationView() -> PublishedFlagView { starvation.makeView() }

  /// Returns how many of the `frames` due frames must be read: none while it is paused and faded
  /// out, and none before enough frames have arrived.
  @_noLocks
  mutating func wanted(_ frames: Int, queued: Int, isLast: Bool) -> Int {
    let isPaused = isSilent
    let target = isPaused ? .silence : gainView.gain
    if target.factor != gain.target.factor {
      // The first frame needs no ramp: there is no previous frame and so no click.
      if hasBegun || fadesIn {
        gain.ramp(to: target, frames: rampFrames)
      } else {
        gain.set(target)
      }
    }
    if isPaused && gain.isSilent { return 0 }
    if isStarved && queued > 0 {
      if queued >= prebufferTarget.value || isLast { setStarved(false) }
    }
    if isStarved { return 0 }
    // The playback stops at once after the fade-out, so that no frame passes unplayed.
    return isPaused ? min(frames, gain.remainingFrames) : frames
  }

  /// Applies the gain to the first `frames` frames.
  @_noLocks
  mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    gain.process(&buffer, frames: frames)
  }

  /// Records that `frames` frames of the ring buffer up to `ringFrame` are played, beginning
  /// `offset` frames after the start of the cycle.
  @_noLocks
  mutating func note(upTo ringFrame: Int, frames: Int, at offset: Int, of time: CycleTime) {
    if frames > 0 {
      hasBegun = true
      let first = ringFrame &- frames
      let frame = time.frame &+ offset
      if first &- frame != self.offset {
        var isReported = true
        if first != nextFrame {
          isReported = marks.write(.passed(nextFrame))
        }
        if isReported
          && marks.write(
            .playing(ringFrame: first, frame: frame, nanoseconds: time.nanoseconds))
        {
          self.offset = first &- frame
        }
      }
      nextFrame = ringFrame
    } else if self.offset != Int.min {
      // The playback does not advance, and the time of its continuation is unknown.
      if marks.write(.passed(nextFrame)) {
        self.offset = Int.min
      }
    }
    playedCount.publish(ringFrame)
  }

  /// Records that frames were due but not available. Returns whether that is starvation, and not
  /// the end of the queue.
  @_noLocks
  mutating func starve() -> Bool {
    setStarved(true)
    return hasBegun && isFed.isSet
  }

  /// Whether it is silent because it was paused.
  var isSilent: Bool {
    @_noLocks get { pause.isSet }
  }

  /// Whether it is silent because it was paused, and has faded out.
  var isFadedOut: Bool {
    @_noLocks get { isSilent && gain.isSilent }
  }

  @_noLocks
  private mutating func setStarved(_ value: Bool) {
    guard value != isStarved else { return }
    isStarved = value
    starvation.publish(value)
  }
}

// Audio thread.

import AudioBasics
import AudioDevices
import RealtimeAudio

/// The audio thread's half of playing: takes frames from the ring that the disk thread's half
/// (`PlayFeeder`, `QueueFeeder`) keeps full.
public struct PlayerStage: MixerStage, ~Copyable {
  private var ring: SampleReader
  var buffer: SampleBuffer
  private var starvedFrames = 0
  /// Frames to be passed over before anything is played again.
  private var owedFrames = 0
  /// Whether every frame belongs to a moment of the unit's timeline: what was not played in time is
  /// left out rather than played later.
  public var keepsTimeline = false
  private var starved = PublishedValue()
  /// The unit that it was made for; nil where nobody said.
  let shape: AudioPlayer.Shape?
  /// What steers it, where something does, and whether that has paused it.
  private var remote: PlayerRemote?
  private let pause: PublishedValueView
  /// Whether the last frame has been taken.
  public private(set) var isFinished = false
  /// Whether it did nothing in the last cycle.
  private var isAtRest = false
  /// Frames that it added in the last cycle.
  public private(set) var playedFrames = 0

  /// Plays what comes out of `ring`, at most `periodFrames` a cycle.
  public init(ring: consuming SampleReader, channelCount: Int, periodFrames: Int) {
    self.ring = ring
    buffer = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
    shape = nil
    remote = nil
    pause = PublishedValue().makeView()
  }

  init(
    ring: consuming SampleReader, shape: AudioPlayer.Shape, remote: consuming PlayerRemote,
    pause pauseView: consuming PublishedValueView
  ) {
    self.ring = ring
    pause = pauseView
    buffer = SampleBuffer(frameCount: shape.periodFrames, channelCount: shape.channelCount)
    self.shape = shape
    self.remote = consume remote
  }

  /// Frames that were due and not there, as they become more: the disk or the network was too slow.
  public borrowing func makeStarvationView() -> PublishedValueView {
    starved.makeView()
  }

  /// Frames played so far.
  public var frameCount: Int {
    @_noLocks get { ring.frameCount }
  }

  /// Adds the next frames to those of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    if isAtRest && staysAtRest() { return }
    let (frames, time) = (bus.frames, bus.time)
    if keepsTimeline { owedFrames &+= time.lostFrames }
    // In this order: what is queued after the end was announced is all there will be.
    let isLast = ring.isFinished
    payOwed()
    var wanted = owedFrames > 0 ? 0 : frames
    if remote != nil {
      wanted = remote?.wanted(wanted, queued: ring.available, isLast: isLast) ?? 0
    }
    // What is not wanted any more is not wanted in a pause either.
    if wanted == 0 && remote != nil {
      ring.passReplaced()
      remote?.note(upTo: ring.frameCount, frames: 0, at: 0, of: time)
    }
    var count = 0
    // A second and a third time where frames were taken out of the ring.
    var turns = 0
    while count < wanted && turns < 3 {
      let some = ring.read(into: &buffer, at: count, frames: wanted &- count)
      remote?.note(upTo: ring.frameCount, frames: some, at: count, of: time)
      count &+= some
      turns &+= 1
    }
    remote?.process(&buffer, frames: count)
    bus.add(&buffer, frames: count)
    playedFrames = count
    isAtRest = count == 0 && owedFrames == 0 && remote?.isFadedOut == true && ring.available == 0
    if count < frames { fallShort(by: frames &- count, isLast: isLast && ring.available == 0) }
  }

  /// Whether it is paused with nothing queued, as in the last cycle: then there is nothing to do.
  @_noLocks
  private mutating func staysAtRest() -> Bool {
    pause.value != 0 && ring.available == 0 && !ring.isFinished
  }

  @_noLocks
  private mutating func fallShort(by frames: Int, isLast: Bool) {
    if isLast {
      isFinished = true
    } else if remote?.isSilent != true && remote?.starve() != false {
      starvedFrames &+= frames
      starved.publish(starvedFrames)
      if keepsTimeline { owedFrames &+= frames }
    }
  }

  /// Throws away what is owed, as far as it is there.
  @_noLocks
  private mutating func payOwed() {
    // A bound on what one cycle may take; the rest is owed to the next.
    var turns = 0
    while owedFrames > 0 && turns < 256 {
      let count = ring.read(into: &buffer, frames: min(owedFrames, buffer.frameCount))
      if count == 0 { return }
      owedFrames &-= count
      turns &+= 1
    }
  }
}

/// The audio thread's end of what steers a player: pause, gain, waiting for a network. Tells where
/// on the timeline what is heard.
struct PlayerRemote: ~Copyable {
  /// What the other threads want: whether it is paused, its gain, whether more frames are on
  /// their way, and how many must be queued before a starved player goes on.
  private let pause: PublishedValueView
  private let gainView: PublishedValueView
  private let isFed: PublishedValueView
  private let enough: PublishedValueView
  /// What it tells: frames of the ring heard or passed over; whether frames were due and not there,
  /// and enough have not come since; where on the timeline it goes on.
  private var playedCount = PublishedValue()
  private var starvation = PublishedValue()
  private var marks: EventWriter<PlayerMark>
  /// Frames that a change of gain takes.
  private let rampFrames: Int
  private var gain = SmoothedGain(.silence)
  private var isStarved = true
  private var hasBegun = false
  /// Whether the first frame lies in the middle of a sound.
  private let fadesIn: Bool
  /// The frame of the ring that comes next, and how far it lies behind the timeline, as last told.
  private var nextFrame = 0
  private var offset = Int.min

  init(
    pause: consuming PublishedValueView, gainView: consuming PublishedValueView,
    isFed: consuming PublishedValueView,
    enough: consuming PublishedValueView, marks: consuming EventWriter<PlayerMark>, rampFrames: Int,
    fadesIn: Bool
  ) {
    self.pause = pause
    self.gainView = gainView
    self.isFed = isFed
    self.enough = enough
    self.marks = marks
    self.rampFrames = max(1, rampFrames)
    self.fadesIn = fadesIn
    starvation.publish(1)
  }

  /// Frames of the ring that were heard or passed over.
  borrowing func makePlayedView() -> PublishedValueView { playedCount.makeView() }

  /// 1 while frames that were due are not there.
  borrowing func makeStarvationView() -> PublishedValueView { starvation.makeView() }

  /// How many frames are to be taken of `frames` that are due: none while it is paused and faded
  /// out, and none before enough have come.
  @_noLocks
  mutating func wanted(_ frames: Int, queued: Int, isLast: Bool) -> Int {
    let isPaused = isSilent
    let target = isPaused ? .silence : gainView.gain
    if target.factor != gain.target.factor {
      // The very first frame needs no ramp: there is nothing before it to click against.
      if hasBegun || fadesIn {
        gain.glide(to: target, frames: rampFrames)
      } else {
        gain.jump(to: target)
      }
    }
    if isPaused && gain.isSilent { return 0 }
    if isStarved && queued > 0 {
      if queued >= enough.value || isLast { setStarved(false) }
    }
    if isStarved { return 0 }
    // Faded out, it stops at once: nothing passes unheard.
    return isPaused ? min(frames, gain.remainingFrames) : frames
  }

  /// Applies the gain to the first `frames` frames.
  @_noLocks
  mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    gain.process(&buffer, frames: frames)
  }

  /// `frames` frames of the ring up to `ringFrame` are heard from `offset` frames into the cycle
  /// on.
  @_noLocks
  mutating func note(upTo ringFrame: Int, frames: Int, at offset: Int, of time: CycleTime) {
    if frames > 0 {
      hasBegun = true
      let first = ringFrame &- frames
      let frame = time.frame &+ offset
      if first &- frame != self.offset {
        var isTold = true
        if first != nextFrame {
          isTold = marks.write(.passed(nextFrame))
        }
        if isTold
          && marks.write(
            .playing(ringFrame: first, frame: frame, nanoseconds: time.nanoseconds))
        {
          self.offset = first &- frame
        }
      }
      nextFrame = ringFrame
    } else if self.offset != Int.min {
      // It stands still: when it goes on is not known.
      if marks.write(.passed(nextFrame)) {
        self.offset = Int.min
      }
    }
    playedCount.publish(ringFrame)
  }

  /// Frames were due and not there. Whether that is starvation, and not the queue's end.
  @_noLocks
  mutating func starve() -> Bool {
    setStarved(true)
    return hasBegun && isFed.value != 0
  }

  /// Whether it is silent because it was told to be.
  var isSilent: Bool {
    @_noLocks get { pause.value != 0 }
  }

  /// Whether it is silent because it was told to be, and has faded out.
  var isFadedOut: Bool {
    @_noLocks get { isSilent && gain.isSilent }
  }

  @_noLocks
  private mutating func setStarved(_ value: Bool) {
    guard value != isStarved else { return }
    isStarved = value
    starvation.publish(value ? 1 : 0)
  }
}

// Audio thread.
import AudioBasics

/// The way from the output to the microphone: a delay, a gain, and two clocks.
///
/// The frame captured as number m is heard from output position m / (1 + drift) - delay.
/// A whole delay without drift copies, to the bit. Any other reads between frames, with as many
/// frames of future as are sure to be queued: headroom and delay together give a full 36 or more
/// in all but tiny set-ups, and fewer only make the treble less exact.
struct Wire: ~Copyable, Sendable {
  /// How a captured frame finds its output position.
  private enum Course: BitwiseCopyable {
    case whole, fractional, drifting
  }

  /// The delay's whole frames.
  let wholeDelay: Int
  /// Whether it only delays.
  let isPlain: Bool
  /// Frames that the microphone hears for one that is played.
  private let pace: Double
  private let delay: Double
  private let gain: Float
  private let course: Course
  private var interpolator: Interpolator
  private var window: SampleBuffer
  private var weighted: SampleBuffer

  init(
    _ specification: SimulatedDeviceSpecification, headroomFrames: Int, periodFrames: Int,
    channelCount: Int, outputPerInput: Double? = nil
  ) {
    // All is worked out in locals: a closure (`&&` makes one) that reads a half-made move-only
    // `self` is miscompiled by Swift 6.3.1, and what it owns is freed twice.
    let pace = 1 + specification.driftPPM * 1e-6
    let delay = specification.delayFrames
    let wholeDelay = Int(clamping: delay)
    let fraction = delay - Double(wholeDelay)
    let gain = Decibels.gain(specification.gainDB) * (specification.isInverted ? -1 : 1)
    let course =
      pace != 1 || outputPerInput != nil ? Course.drifting : fraction == 0 ? .whole : .fractional
    let halfWidth = max(1, min(Interpolator.fullHalfWidth, headroomFrames + wholeDelay))
    let windowFrames =
      course == .whole
      ? 1
      : Int(clamping: Double(periodFrames) / pace * (outputPerInput ?? 1) * 1.02) + 2 * halfWidth
        + 3
    self.pace = pace
    self.delay = delay
    self.wholeDelay = wholeDelay
    self.gain = gain
    self.course = course
    isPlain = course == .whole && gain == 1
    interpolator = Interpolator(
      halfWidth: halfWidth, fraction: course == .drifting ? nil : 1 - fraction)
    window = SampleBuffer(frameCount: windowFrames, channelCount: channelCount)
    weighted = SampleBuffer(
      frameCount: course == .fractional ? periodFrames : 0, channelCount: channelCount)
  }

  /// Output frames played when `frame` frames are captured.
  @_noLocks
  func played(at frame: Int) -> Int {
    pace == 1 ? frame : Int(clamping: Double(frame) / pace)
  }

  /// A frame whose capture says that `position` output frames were played: the first, or the next.
  @_noLocks
  func captured(at position: Int) -> Int {
    pace == 1 ? position : Int(clamping: Double(position) * pace) &+ 1
  }

  /// The output frame that is played when `frame` is captured, or the nearest one.
  @_noLocks
  func nearestPlayed(at frame: Int) -> Int {
    pace == 1 ? frame : Int(clamping: Double(frame) / pace + 0.5)
  }

  /// What is heard of `tape` in `frames` frames captured from `frame` on.
  @_noLocks
  mutating func carry(
    _ tape: borrowing OutputTape, from frame: Int, frames: Int, into heard: inout SampleBuffer
  ) {
    switch course {
    case .whole:
      tape.read(from: frame &- wholeDelay, frames: frames, times: gain, into: &heard)
    case .fractional:
      let first = frame &- wholeDelay &- interpolator.halfWidth
      let count = frames &+ interpolator.width &- 1
      tape.read(from: first, frames: count, times: gain, into: &window)
      // Tap by tap over all frames: that is what vectors are good at.
      heard.clear(frames: frames)
      var tap = 0
      while tap < interpolator.width {
        weighted.replace(at: 0, with: window, from: tap, frames: frames)
        weighted.scale(frames: frames, by: interpolator.weight(of: tap))
        heard.add(weighted, frames: frames)
        tap &+= 1
      }
    case .drifting:
      carry(tape, played: Double(frame) / pace, step: 1 / pace, frames: frames, into: &heard)
    }
  }

  /// What is heard of `tape` in `frames` captured frames: at the first of them `played` output
  /// frames were played, and `step` more at each one after. For a wire that drifts.
  @_noLocks
  mutating func carry(
    _ tape: borrowing OutputTape, played: Double, step: Double, frames: Int,
    into heard: inout SampleBuffer
  ) {
    let start = played - delay
    let origin = floor(start) &- interpolator.halfWidth &+ 1
    let count = min(
      window.frameCount, Int(clamping: Double(frames) * step) &+ interpolator.width &+ 2)
    tape.read(from: origin, frames: count, times: gain, into: &window)
    let offset = start - Double(origin &+ interpolator.halfWidth &- 1)
    var done = 0
    while done < frames {
      let position = offset + Double(done) * step
      let first = Int(clamping: position)
      interpolator.turn(to: position - Double(first))
      interpolate(done, from: first, into: &heard)
      done &+= 1
    }
  }

  @_noLocks @inline(__always)
  private func interpolate(_ frame: Int, from first: Int, into heard: inout SampleBuffer) {
    let channelCount = heard.channelCount
    var channel = 0
    while channel < channelCount {
      heard[frame &* channelCount &+ channel] = interpolator.value(
        in: window, from: first, channel: channel)
      channel &+= 1
    }
  }

  @_noLocks
  private func floor(_ value: Double) -> Int {
    let towardsZero = Int(clamping: value)
    return Double(towardsZero) > value ? towardsZero &- 1 : towardsZero
  }
}

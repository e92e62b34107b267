// Audio thread.

import AudioBasics
import AudioClocks

/// The path from the output to the microphone: a delay, a gain, and two clocks.
///
/// Captured frame m contains output position m / (1 + drift) - delay. A delay of whole frames
/// without drift copies frames bit for bit. Any other delay interpolates between frames, with as
/// many future frames as are certain to be queued. Headroom and delay together give the full 36
/// frames or more in all but very small configurations; fewer frames only make high frequencies
/// less exact.
struct LoopbackPath: ~Copyable, Sendable {
  /// The relation of a captured frame to its output position.
  private enum DelayKind: BitwiseCopyable {
    case whole, fractional, drifting
  }

  /// The whole frames of the delay.
  let wholeDelay: Int
  /// Whether the path only delays.
  let isPlain: Bool
  /// The number of captured frames for one played frame.
  private let capturedPerPlayed: Double
  private let delay: Double
  private let gain: Float
  private let delayKind: DelayKind
  private var interpolator: Interpolator
  private var window: SampleBuffer
  private var weighted: SampleBuffer

  init(
    _ specification: SimulatedDeviceSpecification, headroomFrames: Int, periodFrames: Int,
    channelCount: Int, outputPerInput: Double? = nil
  ) {
    // All values are computed in locals: a closure (`&&` creates one) that reads a partially
    // initialised move-only `self` is miscompiled by Swift 6.3.1, and the memory it owns is freed
    // twice.
    let capturedPerPlayed = 1 + specification.driftPPM * 1e-6
    let delay = specification.delayFrames
    let wholeDelay = Int(clamping: delay)
    let fraction = delay - Double(wholeDelay)
    let gain = specification.gain.factor * (specification.isInverted ? -1 : 1)
    let delayKind =
      capturedPerPlayed != 1 || outputPerInput != nil
      ? DelayKind.drifting : fraction == 0 ? .whole : .fractional
    let halfWidth = max(1, min(Interpolator.fullHalfWidth, headroomFrames + wholeDelay))
    // The drift at which the most frames are played in a period.
    let lowest = ([specification.driftPPM] + specification.driftSteps.map(\.ppm)).min() ?? 0
    let longest = Double(periodFrames) / (1 + lowest * 1e-6) * (outputPerInput ?? 1)
    let windowFrames =
      delayKind == .whole ? 1 : Int(clamping: longest.rounded(.up)) + 2 * halfWidth + 3
    self.capturedPerPlayed = capturedPerPlayed
    self.delay = delay
    self.wholeDelay = wholeDelay
    self.gain = gain
    self.delayKind = delayKind
    isPlain = delayKind == .whole && gain == 1
    interpolator = Interpolator(
      halfWidth: halfWidth, fraction: delayKind == .drifting ? nil : 1 - fraction)
    window = SampleBuffer(frameCount: windowFrames, channelCount: channelCount)
    weighted = SampleBuffer(
      frameCount: delayKind == .fractional ? periodFrames : 0, channelCount: channelCount)
  }

  /// Returns the number of output frames played when `frame` frames are captured.
  @_noLocks
  func played(at frame: Int) -> Int {
    capturedPerPlayed == 1 ? frame : Int(clamping: Double(frame) / capturedPerPlayed)
  }

  /// Returns a captured frame at which `position` output frames were played: the first one, or the
  /// next.
  @_noLocks
  func captured(at position: Int) -> Int {
    capturedPerPlayed == 1 ? position : Int(clamping: Double(position) * capturedPerPlayed) &+ 1
  }

  /// Returns the output frame that is played when `frame` is captured, or the nearest one.
  @_noLocks
  func nearestPlayed(at frame: Int) -> Int {
    capturedPerPlayed == 1 ? frame : Int(clamping: Double(frame) / capturedPerPlayed + 0.5)
  }

  /// Renders the frames of `playedHistory` that are captured in `frames` frames from `frame` on.
  @_noLocks
  mutating func render(
    _ playedHistory: borrowing PlayedHistoryRing, from frame: Int, frames: Int,
    into mixed: inout SampleBuffer
  ) {
    switch delayKind {
    case .whole:
      playedHistory.read(from: frame &- wholeDelay, frames: frames, times: gain, into: &mixed)
    case .fractional:
      let first = frame &- wholeDelay &- interpolator.halfWidth
      let count = frames &+ interpolator.width &- 1
      playedHistory.read(from: first, frames: count, times: gain, into: &window)
      // The loop applies one tap at a time to all frames, which suits vector instructions.
      mixed.clear(frames: frames)
      var tap = 0
      while tap < interpolator.width {
        weighted.replace(at: 0, with: window, from: tap, frames: frames)
        weighted.scale(frames: frames, by: interpolator.weight(of: tap))
        mixed.add(weighted, frames: frames)
        tap &+= 1
      }
    case .drifting:
      render(
        playedHistory, played: Double(frame) / capturedPerPlayed, step: 1 / capturedPerPlayed,
        frames: frames, into: &mixed)
    }
  }

  /// Renders the frames of `playedHistory` that are captured in `frames` frames over a wire that
  /// drifts: `played` output frames were played at the first of them, and `step` more at each one
  /// after.
  @_noLocks
  mutating func render(
    _ playedHistory: borrowing PlayedHistoryRing, played: Double, step: Double, frames: Int,
    into mixed: inout SampleBuffer
  ) {
    let start = played - delay
    let origin = floor(start) &- interpolator.halfWidth &+ 1
    let count = min(
      window.frameCount, Int(clamping: Double(frames) * step) &+ interpolator.width &+ 2)
    playedHistory.read(from: origin, frames: count, times: gain, into: &window)
    let offset = start - Double(origin &+ interpolator.halfWidth &- 1)
    var done = 0
    while done < frames {
      let position = offset + Double(done) * step
      let first = Int(clamping: position)
      interpolator.turn(to: position - Double(first))
      interpolator.read(window, from: first, into: &mixed, at: done)
      done &+= 1
    }
  }

  @_noLocks
  private func floor(_ value: Double) -> Int {
    let towardsZero = Int(clamping: value)
    return Double(towardsZero) > value ? towardsZero &- 1 : towardsZero
  }
}

/// An interpolator between the frames of a band-limited signal: a sinc under a Kaiser window.
///
/// With its full width, its error is below -100 dB up to 0.45 of the rate. The transition band of
/// the window is 0.1 of the rate wide, and its attenuation is 2.285 dB per tap and radian.
struct Interpolator: ~Copyable, Sendable {
  /// The number of taps on each side if nothing limits it.
  static let fullHalfWidth = 36
  private static let phaseCount = 512

  /// The number of taps on each side.
  let halfWidth: Int
  /// One row of taps for each phase, and the first one again, a frame later, at the end.
  private let rows: SampleBuffer
  private var taps: SampleBuffer

  /// The total number of taps.
  var width: Int {
    @_noLocks get { 2 &* halfWidth }
  }

  /// Creates an interpolator for one constant fraction of a frame, with exact taps. If `fraction`
  /// is nil, the fraction changes from frame to frame, and taps are interpolated between the phases
  /// of a table.
  init(halfWidth: Int, fraction: Double?) {
    let phases = fraction == nil ? Self.phaseCount + 1 : 1
    var rows = SampleBuffer(frameCount: phases, channelCount: 2 * halfWidth)
    for row in 0..<phases {
      WindowedSinc.design(
        &rows, row: row, halfWidth: halfWidth,
        fraction: fraction ?? Double(row) / Double(Self.phaseCount))
    }
    var taps = SampleBuffer(frameCount: 1, channelCount: 2 * halfWidth)
    taps.copy(rows, frames: 1)
    self.halfWidth = halfWidth
    self.rows = rows
    self.taps = taps
  }

  /// Computes the taps for another fraction of a frame, 0 up to 1.
  @_noLocks
  mutating func turn(to fraction: Double) {
    let phase = fraction * Double(Self.phaseCount)
    let row = max(0, min(Self.phaseCount - 1, Int(clamping: phase)))
    let weight = Float(phase - Double(row))
    let (before, after) = (SIMD4<Float>(repeating: 1 - weight), SIMD4<Float>(repeating: weight))
    let (first, second) = (row &* width, (row &+ 1) &* width)
    var tap = 0
    while tap &+ 4 <= width {
      let four =
        rows.fourSamples(at: first &+ tap) * before + rows.fourSamples(at: second &+ tap) * after
      taps.setFourSamples(four, at: tap)
      tap &+= 4
    }
    while tap < width {
      taps[tap] = rows[first &+ tap] * (1 - weight) + rows[second &+ tap] * weight
      tap &+= 1
    }
  }

  /// Returns the weight of one tap.
  @_noLocks
  func weight(of tap: Int) -> Float {
    taps[tap]
  }

  /// Writes the value between frame `firstFrame + halfWidth - 1` of `window` and the next one to
  /// frame `frame` of `mixed`.
  @_noLocks
  func read(
    _ window: borrowing SampleBuffer, from firstFrame: Int, into mixed: inout SampleBuffer,
    at frame: Int
  ) {
    let channelCount = window.channelCount
    let whole = channelCount <= 2 ? width & ~3 : 0
    if channelCount == 2 {
      let sums = sumsOfStereo(window, from: firstFrame, taps: whole)
      (mixed[frame &* 2], mixed[frame &* 2 &+ 1]) = (sums[0] + sums[2], sums[1] + sums[3])
    } else if channelCount == 1 {
      mixed[frame] = sumsOfMono(window, from: firstFrame, taps: whole).sum()
    }
    guard whole < width else { return }
    var channel = 0
    while channel < channelCount {
      var sum = whole > 0 ? mixed[frame &* channelCount &+ channel] : 0
      var tap = whole
      while tap < width {
        sum += window[(firstFrame &+ tap) &* channelCount &+ channel] * taps[tap]
        tap &+= 1
      }
      mixed[frame &* channelCount &+ channel] = sum
      channel &+= 1
    }
  }

  /// Returns the sums of the first `count` taps for each channel, separately for even and odd
  /// frames.
  @_noLocks @inline(__always)
  private func sumsOfStereo(
    _ window: borrowing SampleBuffer, from firstFrame: Int, taps count: Int
  ) -> SIMD4<Float> {
    var sums = SIMD4<Float>(repeating: 0)
    var index = firstFrame &* 2
    var tap = 0
    while tap < count {
      let four = taps.fourSamples(at: tap)
      sums += window.fourSamples(at: index) * SIMD4(four[0], four[0], four[1], four[1])
      sums += window.fourSamples(at: index &+ 4) * SIMD4(four[2], four[2], four[3], four[3])
      index &+= 8
      tap &+= 4
    }
    return sums
  }

  /// Returns four sums of the first `count` taps, each over every fourth frame.
  @_noLocks @inline(__always)
  private func sumsOfMono(
    _ window: borrowing SampleBuffer, from firstFrame: Int, taps count: Int
  ) -> SIMD4<Float> {
    var sums = SIMD4<Float>(repeating: 0)
    var tap = 0
    while tap < count {
      sums += window.fourSamples(at: firstFrame &+ tap) * taps.fourSamples(at: tap)
      tap &+= 4
    }
    return sums
  }
}

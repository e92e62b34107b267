// Audio thread.

import AudioBasics

/// Converts frames at a ratio that may change during the conversion: for faster and slower
/// playback, and for keeping the clocks of two devices synchronized.
///
/// It is created off the audio thread. All other methods may be called on the audio thread: none of
/// them allocates, locks or waits, and a change of the ratio requires no recomputation. One thread
/// at a time.
///
/// An output frame is at a position among the input frames and needs the `reachFrames` input frames
/// after it. That is the whole delay. At the end of a stream, the same number of frames of silence
/// flushes the remaining output.
///
/// From ratio 0.75 to 1.01 the kernel passes the full band at a constant cost. At ratio 1 and an
/// integer position the output equals the input sample by sample, and a ratio that begins to change
/// departs from that without a step. The price is that tones just below half the input rate, above
/// the edge up to which `ConversionQuality` calls the response flat, have an image at the mirrored
/// frequency above it. At lower ratios such images would become audible, and at higher ratios the
/// content above half the output rate would become aliases. The kernel is stretched at these ratios
/// and suppresses both.
///
/// ```swift
/// var converter = VariableRateConverter(channelCount: 2, maximumInputPerOutput: 1.01)
/// converter.setRatio(1.00005)  // the input's clock runs 50 ppm faster
/// let input = SampleBuffer(frameCount: 256, channelCount: 2)
/// var output = SampleBuffer(frameCount: 256, channelCount: 2)
/// let (consumed, produced) = converter.convert(input, frames: 256, into: &output, room: 256)
/// precondition(consumed > 0 && produced > 0)
/// ```
public struct VariableRateConverter: ~Copyable, Sendable {
  /// The range of the highest ratio that a converter can be created for.
  public static let supportedMaxima = 1.0...256

  /// The ratios between which the kernel is not stretched.
  private static let fullBand = (lowest: 0.75, highest: 1.01)
  /// The rate at which the stretch grows with the ratio outside `fullBand`, so that it has no step.
  private static let stretchSlope = 3.0

  /// The number of channels.
  public let channelCount: Int
  /// The highest ratio that may be set.
  public let maximumInputPerOutput: Double
  /// Half the width of the kernel's slope, as a fraction of half the rate.
  private let slope: Double
  private var bank: SincBank
  private var past: RecentFrames
  private var next = FramePosition(0)
  private var ramp = RatioRamp()

  /// Creates a converter of 1 to 1024 channels at ratio 1 and position 0. Not on the audio thread:
  /// computes the kernel and allocates all memory for ratios up to `maximumInputPerOutput`, which
  /// must be within `supportedMaxima`.
  public init(
    channelCount: Int, maximumInputPerOutput: Double, quality: ConversionQuality = .standard
  ) {
    requirement(
      (1...SampleBuffer.maximumChannels).contains(channelCount)
        && Self.supportedMaxima.contains(maximumInputPerOutput),
      "A converter needs 1 to 1024 channels, and a maximum ratio within supportedMaxima.")
    let stretch = max(
      1 + quality.slope, Self.stretch(ratio: maximumInputPerOutput, slope: quality.slope))
    let bank = SincBank(quality: quality, maximumStretch: stretch)
    past = RecentFrames(frames: 2 * bank.reach(stretch: stretch), channelCount: channelCount)
    self.bank = bank
    self.channelCount = channelCount
    self.maximumInputPerOutput = maximumInputPerOutput
    slope = quality.slope
  }

  /// The number of input frames before and after an output frame that the kernel covers, at the
  /// present ratio or at the target of the ramp, whichever needs more.
  public var reachFrames: Int {
    @_noLocks get {
      let (now, finally) = ramp.ratios
      return bank.reach(
        stretch: max(
          Self.stretch(ratio: now, slope: slope), Self.stretch(ratio: finally, slope: slope)))
    }
  }

  /// The position of the next output frame, in input frames since the last reset. Exact except for
  /// the rounding of this number: the converter itself sums ratios to 2^-64 of a frame.
  public var position: Double {
    @_noLocks get { next.frames }
  }

  /// The present number of input frames from one output frame to the next.
  public var inputPerOutput: Double {
    @_noLocks get { ramp.ratios.now }
  }

  /// Restarts with the next output frame at `position`, 0 or more, counted in frames from the next
  /// input frame. The frames before that position serve as its past, and silence precedes the first
  /// frame. The ratio and a ramp of the ratio continue.
  @_noLocks
  public mutating func reset(position: Double = 0) {
    requirement(
      position >= 0 && position < 0x1p53,
      "The position must be 0 or more frames.")
    past.clear()
    next = FramePosition(position)
  }

  /// Lets output frames advance by `inputPerOutput` input frames, above 0 and at most
  /// `maximumInputPerOutput`, at once or by a linear ramp over `frames` output frames. The n-th
  /// step from the next output frame on then contains n / `frames` of the change.
  @_noLocks
  public mutating func setRatio(_ inputPerOutput: Double, over frames: Int = 0) {
    requirement(
      inputPerOutput > 0 && inputPerOutput <= maximumInputPerOutput,
      "The ratio of a converter must be above 0 and no higher than its maximum.")
    ramp.ramp(to: inputPerOutput, over: frames)
  }

  /// Converts up to `frames` frames of `input` from `firstFrame` on, into up to `room` frames of
  /// `output` from `target` on. Stops when either is used up. Pass the frames that were not
  /// consumed again. No input frame is consumed before an output frame needs it.
  @_noLocks
  public mutating func convert(
    _ input: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int,
    into output: inout SampleBuffer, at target: Int = 0, room: Int
  ) -> (consumed: Int, produced: Int) {
    requirement(
      input.channelCount == channelCount && output.channelCount == channelCount,
      "The buffer and the converter must have the same number of channels.")
    input.requireFrames(from: firstFrame, frames)
    output.requireFrames(from: target, room)
    let source = UnsafePointer(input.base + firstFrame &* channelCount)
    let sink = output.base + target &* channelCount
    var consumed = 0
    var produced = 0
    while produced < room {
      let stretch = Self.stretch(ratio: ramp.ratios.now, slope: slope)
      let reach = bank.reach(stretch: stretch)
      while past.count <= next.frame &+ reach && consumed < frames {
        past.append(source + consumed &* channelCount)
        consumed &+= 1
      }
      guard past.count > next.frame &+ reach else { break }
      produce(sink + produced &* channelCount, stretch, reach)
      produced &+= 1
      ramp.next()
      next.advance(by: ramp.step)
    }
    return (consumed, produced)
  }

  /// Converts into up to `room` frames without input, for input that is late. Returns the number of
  /// frames produced. Up to half of the look-ahead may be missing; the last frame replaces it. Its
  /// weights are small, so the error is about -60 dB. The position continues exactly.
  @_noLocks
  public mutating func convertAhead(
    into output: inout SampleBuffer, at target: Int = 0, room: Int
  ) -> Int {
    requirement(
      output.channelCount == channelCount,
      "The buffer and the converter must have the same number of channels.")
    output.requireFrames(from: target, room)
    var produced = 0
    while produced < room {
      let stretch = Self.stretch(ratio: ramp.ratios.now, slope: slope)
      let reach = bank.reach(stretch: stretch)
      let missing = max(0, next.frame &+ reach &+ 1 &- past.count)
      guard missing <= reach / 2, past.count > 0 else { break }
      past.holdLast(missing)
      produce(output.base + (target &+ produced) &* channelCount, stretch, reach)
      past.shorten(missing)
      produced &+= 1
      ramp.next()
      next.advance(by: ramp.step)
    }
    return produced
  }

  /// Computes one output frame.
  @_noLocks
  private mutating func produce(
    _ frame: UnsafeMutablePointer<Float>, _ stretch: Double, _ reach: Int
  ) {
    past.sum(
      bank.weights(at: next, stretch: stretch), from: next.frame &- reach &+ 1, count: 2 &* reach,
      into: frame)
  }

  /// Returns the factor by which the kernel must be wider for `ratio`, so that its slope ends at
  /// half the output rate, or at half the input rate if that is lower.
  @_noLocks
  private static func stretch(ratio: Double, slope: Double) -> Double {
    if ratio > fullBand.highest {
      return min(ratio * (1 + slope), 1 + stretchSlope * (ratio - fullBand.highest))
    }
    if ratio < fullBand.lowest {
      return min(1 + slope, 1 + stretchSlope * (fullBand.lowest - ratio))
    }
    return 1
  }
}

/// The step in input frames from one output frame to the next, while it changes linearly from one
/// ratio to another.
struct RatioRamp: BitwiseCopyable {
  /// The input frames between the last output frame and the next.
  private(set) var step = FramePosition(1)
  private var target = FramePosition(1)
  private var increment = FramePosition(0)
  /// The output frames until the target is reached.
  private var rest = 0

  /// Changes to `ratio` at once, or linearly over the next `frames` steps, the last of which equals
  /// it.
  @_noLocks
  mutating func ramp(to ratio: Double, over frames: Int) {
    target = FramePosition(ratio)
    rest = max(0, frames)
    if rest > 0 {
      increment = FramePosition((ratio - step.frames) / Double(rest))
    } else {
      step = target
    }
  }

  /// The step of an output frame in input frames: now, and at the end of the ramp.
  var ratios: (now: Double, finally: Double) {
    @_noLocks get { (step.frames, target.frames) }
  }

  /// Advances to the step that leads to the next output frame.
  @_noLocks
  mutating func next() {
    guard rest > 0 else { return }
    rest &-= 1
    // The rounding error of the increment must not stay permanently.
    if rest == 0 { step = target } else { step.advance(by: increment) }
  }
}

/// A position in frames, or a distance between two positions, with a resolution of 2^-64 of a
/// frame.
///
/// Sums are exact: no addition is rounded.
struct FramePosition: BitwiseCopyable, Equatable {
  /// The frame at or before the position.
  private(set) var frame: Int
  /// The distance of the position after `frame`, in 2^-64 of a frame.
  private(set) var fraction: UInt64

  /// Creates a position from a number of frames, which may be negative. Its magnitude is below
  /// 2^63.
  @_noLocks
  init(_ frames: Double) {
    var whole = Int(clamping: frames)
    var rest = frames - Double(whole)
    if rest < 0 {
      whole &-= 1
      rest += 1
    }
    // The sum may have been rounded up to a whole frame.
    if rest >= 1 {
      whole &+= 1
      rest = 0
    }
    frame = whole
    fraction = UInt64(clamping: rest * 0x1p64)
  }

  /// The position in frames, rounded to a `Double`.
  var frames: Double {
    @_noLocks get { Double(frame) + Double(fraction) * 0x1p-64 }
  }

  /// Advances by `way`, which may be negative.
  @_noLocks
  mutating func advance(by way: FramePosition) {
    let (sum, carries) = fraction.addingReportingOverflow(way.fraction)
    fraction = sum
    frame = frame &+ way.frame &+ (carries ? 1 : 0)
  }
}

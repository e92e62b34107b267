// Audio thread.

import AudioBasics

/// Converts frames at a ratio that may move while they pass: for playing faster and slower, and for
/// holding the clocks of two devices together.
///
/// Made off the audio thread; everything else may be called on it: nothing allocates, locks or
/// waits, and nothing is worked out anew when the ratio moves. One thread at a time.
///
/// An output frame lies at a position among the input frames and needs the `reachFrames` input
/// frames after it: that is the whole delay, and at the end of a stream as many frames of silence
/// push out the last of it.
///
/// From ratio 0.75 to 1.01 the kernel passes all there is, at a constant cost. At ratio 1 and a
/// whole position the output then equals the input sample by sample, and as the ratio begins to
/// move it leaves that without a step. The price is that tones right below half the input's rate,
/// beyond what `ConversionQuality` calls level, come with an image as far above it. Slower than
/// that, such images would come down to where they are heard; faster, what lies above half the
/// output's rate would come back as an alias: there the kernel is stretched, and takes both out.
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
  /// The highest ratios that a converter can be made for.
  public static let supportedMaxima = 1.0...256

  /// The ratios between which the kernel is not stretched.
  private static let fullBand = (lowest: 0.75, highest: 1.01)
  /// How fast the stretch catches up with what a ratio outside asks for: without a step.
  private static let stretchSlope = 3.0

  /// Channels of the frames that pass.
  public let channelCount: Int
  /// The highest ratio that may be set.
  public let maximumInputPerOutput: Double
  /// Half the kernel's slope, in parts of half the rate.
  private let slope: Double
  private var bank: SincBank
  private var past: RecentFrames
  private var next = FramePosition(0)
  private var glide = RatioGlide()

  /// A converter of 1 to 1024 channels at ratio 1 and position 0. Not on the audio thread: computes
  /// the kernel and allocates all that ratios up to `maximumInputPerOutput`, one of
  /// `supportedMaxima`, need.
  public init(
    channelCount: Int, maximumInputPerOutput: Double, quality: ConversionQuality = .standard
  ) {
    requirement(
      (1...1024).contains(channelCount) && Self.supportedMaxima.contains(maximumInputPerOutput),
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

  /// Input frames before and after an output frame that the kernel looks at: at the present ratio,
  /// or at the one it glides to if that needs more.
  public var reachFrames: Int {
    @_noLocks get {
      let (now, finally) = glide.ratios
      return bank.reach(
        stretch: max(
          Self.stretch(ratio: now, slope: slope), Self.stretch(ratio: finally, slope: slope)))
    }
  }

  /// Where the next output frame lies, in input frames since the last reset. Exact but for the
  /// rounding of this number: the converter itself adds up ratios to 2^-64 of a frame.
  public var position: Double {
    @_noLocks get { next.frames }
  }

  /// Input frames from one output frame to the next, at present.
  public var inputPerOutput: Double {
    @_noLocks get { glide.ratios.now }
  }

  /// Begins anew: the next output frame lies at `position`, 0 or more, counted in frames from the
  /// next input frame that is given. The frames before it serve as its past; silence lies before
  /// the first. The ratio stays, and goes on gliding if it does.
  @_noLocks
  public mutating func reset(position: Double = 0) {
    requirement(
      position >= 0 && position < 0x1p53,
      "The position must be 0 or more frames.")
    past.clear()
    next = FramePosition(position)
  }

  /// Lets output frames advance by `inputPerOutput` input frames, above 0 and at most
  /// `maximumInputPerOutput`: at once, or gliding there over `frames` output frames. The n-th step
  /// from the next output frame on then contains n / `frames` of the change.
  @_noLocks
  public mutating func setRatio(_ inputPerOutput: Double, over frames: Int = 0) {
    requirement(
      inputPerOutput > 0 && inputPerOutput <= maximumInputPerOutput,
      "The ratio of a converter must be above 0 and no higher than its maximum.")
    glide.glide(to: inputPerOutput, over: frames)
  }

  /// Converts up to `frames` frames of `input` from `firstFrame` on, into up to `room` frames of
  /// `output` from `target` on. Stops when either is used up; give what was not consumed again. No
  /// input frame is consumed before an output frame needs it.
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
      let stretch = Self.stretch(ratio: glide.ratios.now, slope: slope)
      let reach = bank.reach(stretch: stretch)
      while past.count <= next.frame &+ reach && consumed < frames {
        past.append(source + consumed &* channelCount)
        consumed &+= 1
      }
      guard past.count > next.frame &+ reach else { break }
      produce(sink + produced &* channelCount, stretch, reach)
      produced &+= 1
      glide.next()
      next.advance(by: glide.step)
    }
    return (consumed, produced)
  }

  /// Converts without input into up to `room` frames, for when it is late: where the kernel's far
  /// end, half of what it looks ahead at most, is not there yet, the last frame stands for it.
  /// Its weights are small: what is wrong lies some 60 dB below. No place is lost.
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
      let stretch = Self.stretch(ratio: glide.ratios.now, slope: slope)
      let reach = bank.reach(stretch: stretch)
      let missing = max(0, next.frame &+ reach &+ 1 &- past.count)
      guard missing <= reach / 2, past.count > 0 else { break }
      past.holdLast(missing)
      produce(output.base + (target &+ produced) &* channelCount, stretch, reach)
      past.shorten(missing)
      produced &+= 1
      glide.next()
      next.advance(by: glide.step)
    }
    return produced
  }

  /// One output frame.
  @_noLocks
  private mutating func produce(
    _ frame: UnsafeMutablePointer<Float>, _ stretch: Double, _ reach: Int
  ) {
    past.sum(
      bank.weights(at: next, stretch: stretch), from: next.frame &- reach &+ 1, count: 2 &* reach,
      into: frame)
  }

  /// How much wider than unstretched the kernel must be for `ratio`: so much that its slope ends
  /// where the output's half rate begins, or the input's if that is lower.
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

/// Step in input frames from one output frame to the next, while it changes evenly from one ratio
/// to another.
struct RatioGlide: BitwiseCopyable {
  /// The input frames between the last output frame and the next.
  private(set) var step = FramePosition(1)
  private var target = FramePosition(1)
  private var increment = FramePosition(0)
  /// Output frames until the target is reached.
  private var rest = 0

  /// Goes to `ratio`: at once, or evenly over the next `frames` steps, the last of which equals it.
  @_noLocks
  mutating func glide(to ratio: Double, over frames: Int) {
    target = FramePosition(ratio)
    rest = max(0, frames)
    if rest > 0 {
      increment = FramePosition((ratio - step.frames) / Double(rest))
    } else {
      step = target
    }
  }

  /// Input frames an output frame advances by: now, and at the end of the glide.
  var ratios: (now: Double, finally: Double) {
    @_noLocks get { (step.frames, target.frames) }
  }

  /// Turns to the step that leads to the next output frame.
  @_noLocks
  mutating func next() {
    guard rest > 0 else { return }
    rest &-= 1
    // What the increment was rounded by must not stay for good.
    if rest == 0 { step = target } else { step.advance(by: increment) }
  }
}

/// A place among frames, or a way between two of them, to 2^-64 of a frame.
///
/// Sums are exact: however many ways are added up, none of them is rounded.
struct FramePosition: BitwiseCopyable, Equatable {
  /// The frame at or before the place.
  private(set) var frame: Int
  /// How far behind it, in 2^-64 of a frame.
  private(set) var fraction: UInt64

  /// A number of frames, which may be negative; its magnitude is below 2^63.
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

  /// The same in frames, rounded to what a `Double` can say.
  var frames: Double {
    @_noLocks get { Double(frame) + Double(fraction) * 0x1p-64 }
  }

  /// Goes on by `way`, which may lead back.
  @_noLocks
  mutating func advance(by way: FramePosition) {
    let (sum, carries) = fraction.addingReportingOverflow(way.fraction)
    fraction = sum
    frame = frame &+ way.frame &+ (carries ? 1 : 0)
  }
}

// Audio thread.

import AudioBasics
import CSpeexDSP

/// Converts frames from one rate to another at a fixed ratio.
///
/// It is created off the audio thread. All other methods may be called on the audio thread: none of
/// them allocates, locks or waits. One thread at a time. Frames pass unchanged if the rates are
/// equal.
///
/// A ratio of small terms, such as 44.1 to 48 kHz, uses a bank of exact weights (`PolyphaseBank`).
/// For all other ratios speexdsp interpolates its weights.
///
/// The filter delays the signal by `outputDelayFrames`. For a stream that has a beginning and an
/// end, call `skipLeadingSilence()` before the first frame and `drain` after the last. Frame 0 then
/// stays at its position, and N input frames become exactly N x output rate / input rate output
/// frames, rounded up.
///
/// It cannot synchronize two clocks, because the ratio is constant.
///
/// ```swift
/// var converter = try RateConverter(channelCount: 2, inputRate: 44100, outputRate: 48000)
/// let input = SampleBuffer(frameCount: 441, channelCount: 2)
/// var output = SampleBuffer(frameCount: 480, channelCount: 2)
/// let (consumed, _) = converter.convert(input, frames: 441, into: &output, room: 480)
/// precondition(consumed > 0)
/// ```
public struct RateConverter: ~Copyable, Sendable {
  /// The rates that can be converted, in Hz: each into each, exactly.
  public static let supportedRates = 1000...1_536_000
  /// The qualities of the filter, from fast to fine.
  public static let qualities = 0...10

  /// The number of channels.
  public let channelCount: Int
  /// The input rate in frames per second.
  public let inputRate: Int
  /// The output rate in frames per second.
  public let outputRate: Int
  /// The two possible engines, of which one is set, or none if the rates are equal.
  private var exact: ExactRateConverter?
  private var interpolating: SpeexResampler?
  private let inputDelay: Int
  private var skipsSilence = false
  private var inputFrames = 0
  private var outputFrames = 0

  /// Creates a converter with a filter of `quality` 0 (fast) to 10 (fine): 8 to 256 input frames
  /// long, or more if the output rate is the lower one. Not on the audio thread: computes the
  /// filter. Throws if rates, channels or quality are out of range, or if memory is insufficient.
  public init(
    channelCount: Int, inputRate: Int, outputRate: Int, quality: Int = 5
  ) throws(RateFailure) {
    try RateFailure.check(
      channelCount: channelCount, rates: [inputRate, outputRate], quality: quality)
    var exact: ExactRateConverter?
    var interpolating: SpeexResampler?
    if inputRate != outputRate {
      exact = ExactRateConverter.make(
        channelCount: channelCount, inputRate: inputRate, outputRate: outputRate, quality: quality)
      if exact == nil {
        interpolating = try SpeexResampler.make(
          channelCount: channelCount, inputRate: inputRate, outputRate: outputRate,
          quality: quality)
      }
    }
    inputDelay = exact?.delayFrames ?? interpolating?.delayFrames ?? 0
    self.channelCount = channelCount
    self.inputRate = inputRate
    self.outputRate = outputRate
    self.exact = exact
    self.interpolating = interpolating
  }

  /// The delay in output frames: half the filter's length, or 0 after `skipLeadingSilence()`.
  public var outputDelayFrames: Double {
    @_noLocks get {
      skipsSilence ? 0 : Double(inputDelay) * Double(outputRate) / Double(inputRate)
    }
  }

  /// Skips the silence that the filter would begin with, so that the output is aligned with the
  /// input. Must be called before the first frame.
  @_noLocks
  public mutating func skipLeadingSilence() {
    requirement(
      inputFrames == 0 && outputFrames == 0,
      "Leading silence can be skipped only before the first frame.")
    skipsSilence = true
    exact?.reset(skipsSilence: true)
    interpolating?.skipSilence()
  }

  /// Converts up to `frames` frames of `input` from `firstFrame` on, into up to `room` frames of
  /// `output` from `target` on. Stops when either is used up. Pass the frames that were not
  /// consumed again.
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
    let source = input.base + firstFrame &* channelCount
    let (consumed, produced) = process(
      UnsafePointer(source), frames, output.base + target &* channelCount, room)
    inputFrames &+= consumed
    outputFrames &+= produced
    return (consumed, produced)
  }

  /// Fills up to `room` frames of `output` from `target` on with the frames that the filter still
  /// holds, after the last input frame. Returns the number of frames written, or 0 once all are
  /// written.
  @_noLocks
  public mutating func drain(
    into output: inout SampleBuffer, at target: Int = 0, room: Int
  ) -> Int {
    requirement(
      output.channelCount == channelCount,
      "The buffer and the converter must have the same number of channels.")
    output.requireFrames(from: target, room)
    let heard = inputFrames &+ (skipsSilence ? 0 : inputDelay)
    let all = (heard &* outputRate &+ inputRate &- 1) / inputRate
    let wanted = min(room, all &- outputFrames)
    var done = 0
    while done < wanted {
      let (consumed, produced) = process(
        nil, 4096, output.base + (target &+ done) &* channelCount, wanted &- done)
      if consumed == 0 && produced == 0 { break }
      done &+= produced
    }
    outputFrames &+= done
    return done
  }

  /// Discards all earlier frames, for a stream that restarts or continues at another position.
  /// Leading silence is still skipped if it was before.
  @_noLocks
  public mutating func reset() {
    inputFrames = 0
    outputFrames = 0
    exact?.reset(skipsSilence: skipsSilence)
    interpolating?.reset(skipsSilence: skipsSilence)
  }

  /// Calls the engine once, with silence if `source` is nil.
  @_noLocks
  private mutating func process(
    _ source: UnsafePointer<Float>?, _ frames: Int, _ target: UnsafeMutablePointer<Float>,
    _ room: Int
  ) -> (consumed: Int, produced: Int) {
    if let progress = exact?.convert(source, frames, into: target, room) { return progress }
    if let progress = interpolating?.convert(source, frames, into: target, room) {
      return progress
    }
    return copy(source, min(frames, room), target)
  }

  @_noLocks
  private func copy(
    _ source: UnsafePointer<Float>?, _ frames: Int, _ target: UnsafeMutablePointer<Float>
  ) -> (consumed: Int, produced: Int) {
    let count = frames &* channelCount
    var index = 0
    while index < count {
      if let source { target[index] = source[index] } else { target[index] = 0 }
      index &+= 1
    }
    return (frames, frames)
  }
}

/// The resampler of speexdsp at a fixed ratio, for ratios whose terms are too large for a
/// `PolyphaseBank`. It interpolates between the weights of its table.
struct SpeexResampler: ~Copyable, @unchecked Sendable {
  // @unchecked because the resampler has one owner, which moves with the value.
  // The resampler's 32-bit products overflow for changing ratios with terms above 65,535; those of
  // a ratio that never changes stay below 2^29 for these rates (256 taps times the rate).
  private let resampler: OpaquePointer
  /// The delay in input frames if silence is not skipped.
  let delayFrames: Int
  private var discarded: SampleBuffer

  /// Creates a resampler. Not on the audio thread: computes the filter. Throws if memory is
  /// insufficient.
  static func make(
    channelCount: Int, inputRate: Int, outputRate: Int, quality: Int
  ) throws(RateFailure) -> SpeexResampler {
    guard
      let resampler = speex_resampler_init(
        UInt32(channelCount), UInt32(inputRate), UInt32(outputRate), Int32(quality), nil)
    else { throw .outOfMemory }
    return SpeexResampler(resampler, channelCount)
  }

  private init(_ resampler: OpaquePointer, _ channelCount: Int) {
    self.resampler = resampler
    delayFrames = Int(speex_resampler_get_input_latency(resampler))
    discarded = SampleBuffer(frameCount: 64, channelCount: channelCount)
  }

  deinit {
    speex_resampler_destroy(resampler)
  }

  /// Starts the output at the first input frame. Must be called before that frame.
  @_noLocks
  func skipSilence() {
    _ = speex_resampler_skip_zeros(resampler)
  }

  /// Restarts.
  @_noLocks
  mutating func reset(skipsSilence: Bool) {
    // The resampler's own reset keeps part of the last channel's past (1.2.1), so first pass
    // silence of the filter's whole length.
    var rest = 2 &* delayFrames
    while rest > 0 {
      let (consumed, produced) = convert(nil, rest, into: discarded.base, discarded.frameCount)
      if consumed == 0 && produced == 0 { break }
      rest &-= consumed
    }
    _ = speex_resampler_reset_mem(resampler)
    if skipsSilence { skipSilence() }
  }

  /// Converts up to `frames` frames, or silence if `source` is nil, into up to `room` frames.
  @_noLocks
  func convert(
    _ source: UnsafePointer<Float>?, _ frames: Int, into target: UnsafeMutablePointer<Float>,
    _ room: Int
  ) -> (consumed: Int, produced: Int) {
    var consumed = UInt32(truncatingIfNeeded: min(frames, 0x3FFF_FFFF))
    var produced = UInt32(truncatingIfNeeded: min(room, 0x3FFF_FFFF))
    _ = speex_resampler_process_interleaved_float(resampler, source, &consumed, target, &produced)
    return (Int(consumed), Int(produced))
  }
}

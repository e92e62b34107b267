import AudioBasics
import CSoxr

/// Converts frames from one rate to another at a fixed ratio, in blocks. It is more accurate than a
/// `RateConverter` and cheaper, but its output comes about a thousand frames at a time, and it
/// allocates memory. Not for the audio thread. One thread at a time.
///
/// The output is aligned with the input: output frame n is the input at n x input rate / output
/// rate. The last frames are output once silence is appended to the input.
///
/// libsoxr, loaded with the first converter, does the conversion. If it is not installed or cannot
/// convert these rates, a `RateConverter` is used.
///
/// ```swift
/// var converter = try BlockRateConverter(channelCount: 2, inputRate: 44100, outputRate: 48000)
/// let input = SampleBuffer(frameCount: 441, channelCount: 2)
/// var output = SampleBuffer(frameCount: 480, channelCount: 2)
/// let (consumed, _) = converter.convert(input, frames: 441, into: &output, room: 480)
/// precondition(consumed == 441)
/// ```
public struct BlockRateConverter: ~Copyable, Sendable {
  private let ratio: RateRatio
  private let channelCount: Int
  /// The two possible engines, of which exactly one is set.
  private let blocks: SoxrResampler?
  private var plain: RateConverter?

  /// The largest number of input frames passed to libsoxr per call.
  private static let pieceFrames = 1024

  /// Creates a converter of `quality`, 0 (fast) to 10 (fine). soxr uses its recipes of 20 bits from
  /// 0 on, of 24 from 3, of 28 from 5, and from 8 on a steep filter, which passes 0.98 of the band
  /// instead of 0.91. Throws if rates, channels or quality are out of range, or if memory is
  /// insufficient.
  public init(
    channelCount: Int, inputRate: Int, outputRate: Int, quality: Int = 5
  ) throws(RateFailure) {
    try RateFailure.check(
      channelCount: channelCount, rates: [inputRate, outputRate], quality: quality)
    let ratio = RateRatio(inputRate: inputRate, outputRate: outputRate)
    let blocks = SoxrResampler.make(channelCount: channelCount, ratio, quality: quality)
    var plain: RateConverter?
    if blocks == nil {
      plain = try RateConverter(
        channelCount: channelCount, inputRate: inputRate, outputRate: outputRate, quality: quality)
      plain?.skipLeadingSilence()
    }
    self.ratio = ratio
    self.channelCount = channelCount
    self.blocks = blocks
    self.plain = plain
  }

  /// Whether libsoxr is installed.
  public static var isInstalled: Bool { SoxrResampler.isLoaded }

  /// Returns the number of output frames after which the input before the first frame no longer
  /// matters. A conversion that begins that much earlier gives the same output as one that began
  /// long before. Returns 0 if one of the rates, in Hz, is not in `RateConverter.supportedRates`.
  public static func settlingFrames(quality: Int, inputRate: Int, outputRate: Int) -> Int {
    let rates = RateConverter.supportedRates
    guard rates.contains(inputRate), rates.contains(outputRate) else { return 0 }
    let reach = quality < SoxrResampler.steepQuality ? 256 : 1024
    return reach * outputRate / min(inputRate, outputRate)
  }

  /// Converts frames of `input` from `firstFrame` on, up to `frames` of them, into up to `room`
  /// frames of `output` from `target` on. Pass the frames that were not consumed again.
  public mutating func convert(
    _ input: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int,
    into output: inout SampleBuffer, at target: Int = 0, room: Int
  ) -> (consumed: Int, produced: Int) {
    if let progress = plain?.convert(
      input, from: firstFrame, frames: frames, into: &output, at: target, room: room)
    {
      return progress
    }
    requirement(
      input.channelCount == channelCount && output.channelCount == channelCount,
      "The buffer and the converter must have the same number of channels.")
    input.requireFrames(from: firstFrame, frames)
    output.requireFrames(from: target, room)
    let source = input.base + firstFrame * channelCount
    let sink = output.base + target * channelCount
    // Output the ready frames first, and pass no more input than this room requires, so that at
    // most one block waits in libsoxr.
    var produced = blocks?.convert(source, 0, into: sink, room) ?? 0
    var consumed = 0
    let piece = min(Self.pieceFrames, room * ratio.inputStep / ratio.outputStep + 1)
    while produced == 0, room > 0, consumed < frames {
      let count = min(piece, frames - consumed)
      produced =
        blocks?.convert(source + consumed * channelCount, count, into: sink, room) ?? 0
      consumed += count
    }
    return (consumed, produced)
  }
}

/// The resampler of libsoxr at a fixed ratio, with linear phase and without delay.
struct SoxrResampler: ~Copyable, @unchecked Sendable {
  // @unchecked because the resampler has one owner, which moves with the value.
  private let resampler: OpaquePointer

  static let isLoaded = csoxr_load()
  /// The lowest quality with a steep filter.
  static let steepQuality = 8

  /// Returns a resampler, or nil if libsoxr is missing or rejects the parameters.
  static func make(channelCount: Int, _ ratio: RateRatio, quality: Int) -> SoxrResampler? {
    guard isLoaded else { return nil }
    let bits: Int32 = quality < 3 ? 20 : quality < 5 ? 24 : 28
    let filter = csoxr_filter(bits: bits, is_steep: quality >= steepQuality)
    return csoxr_create(
      Double(ratio.inputStep), Double(ratio.outputStep), UInt32(channelCount), filter
    ).map { SoxrResampler($0) }
  }

  private init(_ resampler: OpaquePointer) { self.resampler = resampler }

  deinit { csoxr_destroy(resampler) }

  /// Consumes all of `frames` frames and returns the number of frames written to `target`.
  func convert(
    _ source: UnsafePointer<Float>, _ frames: Int, into target: UnsafeMutablePointer<Float>,
    _ room: Int
  ) -> Int {
    csoxr_convert(resampler, source, frames, target, room)
  }
}

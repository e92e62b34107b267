import COtherConverters

/// A sample rate converter of another project, for comparison. Not for the audio thread.
public struct OtherConverter: ~Copyable {
  /// The kind of converter.
  public enum Kind: Sendable {
    /// libsamplerate's sinc converters: best, medium, fastest are 0, 1, 2.
    case samplerate(Int)
    /// speexdsp's resampler with this quality, at fixed rates.
    case speex(quality: Int, inputRate: Int, outputRate: Int)
    /// libsoxr, at fixed rates, by recipe number: 4 is HQ, 6 is VHQ.
    case soxr(recipe: Int, inputRate: Int, outputRate: Int)
    /// ffmpeg's libswresample with default options, at fixed rates; one or two channels.
    case swresample(inputRate: Int, outputRate: Int)
  }

  private let handle: OpaquePointer
  private let channelCount: Int

  /// Opens the library on this machine. Returns nil if it is not installed.
  public static func open(_ kind: Kind, channelCount: Int) -> OtherConverter? {
    let handle =
      switch kind {
      case .samplerate(let number):
        other_converter_samplerate(Int32(number), Int32(channelCount))
      case .speex(let quality, let inputRate, let outputRate):
        other_converter_speex(
          Int32(quality), Int32(channelCount), UInt32(inputRate), UInt32(outputRate))
      case .soxr(let recipe, let inputRate, let outputRate):
        other_converter_soxr(
          Int32(recipe), Int32(channelCount), UInt32(inputRate), UInt32(outputRate))
      case .swresample(let inputRate, let outputRate):
        other_converter_swresample(Int32(channelCount), UInt32(inputRate), UInt32(outputRate))
      }
    return handle.map { OtherConverter($0, channelCount) }
  }

  private init(_ handle: OpaquePointer, _ channelCount: Int) {
    self.handle = handle
    self.channelCount = channelCount
  }

  deinit { other_converter_close(handle) }

  /// Converts interleaved frames of `input`, starting with frame `first`, until `output` is full,
  /// while the ratio changes to `outputPerInput`. Returns the numbers of frames used and made, 0 on
  /// failure.
  public mutating func convert(
    _ input: [Float], from first: Int, into output: inout [Float], outputPerInput: Double
  ) -> (used: Int, made: Int) {
    var used = 0
    // Limits the input of a call, because some converters buffer all input that does not fit.
    let frames = min(1024, input.count / channelCount - first)
    let room = output.count / channelCount
    let made = input.withUnsafeBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        guard let from = source.baseAddress, let to = target.baseAddress else { return 0 }
        return other_converter_convert(
          handle, from + first * channelCount, frames, &used, to, room, outputPerInput)
      }
    }
    return made < 0 ? (0, 0) : (used, made)
  }
}

import AudioBasics

/// Reason why one rate cannot be converted to another.
public enum RateFailure: ExplainedFailure, Sendable, Equatable {
  /// A rate is outside `RateConverter.supportedRates`.
  case unsupportedRate(Int)
  /// The number of channels is below 1 or above 1024.
  case unsupportedChannelCount(Int)
  /// The quality is outside `RateConverter.qualities`.
  case unsupportedQuality(Int)
  /// The filter does not fit into memory.
  case outOfMemory

  /// One sentence that describes the error.
  public var message: String {
    switch self {
    case .unsupportedRate(let rate): "A rate of \(rate) Hz cannot be converted."
    case .unsupportedChannelCount(let count): "\(count) channels cannot be converted."
    case .unsupportedQuality(let quality): "There is no resampler quality \(quality)."
    case .outOfMemory: "There is not enough memory to convert the rate."
    }
  }

  /// One sentence that describes a remedy.
  public var hint: String {
    switch self {
    case .unsupportedRate:
      "Use a rate of \(RateConverter.supportedRates.boundsText) Hz."
    case .unsupportedChannelCount: "Use 1 to \(SampleBuffer.maximumChannels) channels."
    case .unsupportedQuality: "Use a quality of \(RateConverter.qualities.boundsText)."
    case .outOfMemory: "Use a lower quality, or close other programs."
    }
  }

  /// Throws if a converter of these rates in Hz, channels and quality is not supported.
  static func check(channelCount: Int, rates: [Int], quality: Int) throws(RateFailure) {
    for rate in rates where !RateConverter.supportedRates.contains(rate) {
      throw .unsupportedRate(rate)
    }
    guard (1...SampleBuffer.maximumChannels).contains(channelCount) else {
      throw .unsupportedChannelCount(channelCount)
    }
    guard RateConverter.qualities.contains(quality) else { throw .unsupportedQuality(quality) }
  }
}

/// Why a voice cannot be cleaned as it was asked for.
public enum CleaningFailure: Error, Sendable, Equatable {
  /// A rate outside what the settings can be done at.
  case unsupportedRate(Int, supported: ClosedRange<Int>)
  /// Less than one channel, or more than 64.
  case unsupportedChannelCount(Int)
  /// A high-pass outside `VoiceCleaner.highPassHertz`.
  case unsupportedHighPass(Double)
  /// An echo later than ten seconds, or earlier than what makes it.
  case unsupportedEchoDelay(Int)
  /// A tail outside `VoiceCleaner.echoTailSeconds`.
  case unsupportedEchoTail(Double)
  /// The filters do not fit into memory.
  case outOfMemory

  /// One sentence that says what is wrong.
  public var message: String {
    switch self {
    case .unsupportedRate(let rate, _): "A voice at \(rate) Hz cannot be cleaned like this."
    case .unsupportedChannelCount(let count): "\(count) channels cannot be cleaned."
    case .unsupportedHighPass(let hertz): "There is no high-pass at \(hertz) Hz."
    case .unsupportedEchoDelay(let frames): "An echo cannot be \(frames) frames late."
    case .unsupportedEchoTail(let seconds): "An echo's tail cannot be \(seconds) seconds long."
    case .outOfMemory: "There is not enough memory to clean a voice."
    }
  }

  /// One sentence that says what to do.
  public var hint: String {
    switch self {
    case .unsupportedRate(_, let rates):
      rates.upperBound == VoiceCleaner.voiceRates.upperBound
        ? "Record at \(rates.lowerBound) to \(rates.upperBound) Hz; a high-pass alone goes to "
          + "\(VoiceCleaner.highPassRates.upperBound) Hz."
        : "Use a rate of \(rates.lowerBound) to \(rates.upperBound) Hz."
    case .unsupportedChannelCount: "Use 1 to 64 channels."
    case .unsupportedHighPass:
      "Use \(Int(clamping: VoiceCleaner.highPassHertz.lowerBound)) "
        + "to \(Int(clamping: VoiceCleaner.highPassHertz.upperBound)) Hz; 80 Hz suits most voices."
    case .unsupportedEchoDelay: "Use 0 frames to ten seconds, as measured."
    case .unsupportedEchoTail:
      "Use \(VoiceCleaner.echoTailSeconds.lowerBound) "
        + "to \(VoiceCleaner.echoTailSeconds.upperBound) seconds."
    case .outOfMemory: "Use a shorter echo tail, or close other programs."
    }
  }
}

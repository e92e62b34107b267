import AudioBasics

/// Cleans recorded voices: removes rumble, echo, stationary noise and reverberation, and controls
/// the level, in this order. Channels are cleaned separately, except for the reverberation of two
/// channels, which are treated as a stereo signal.
///
/// The high-pass filter works in double precision on float samples. Noise, reverberation and level
/// are processed in float. Echo is reduced by speexdsp in 16 bits, whose rounding adds noise of
/// about -98 dBFS. Samples beyond full scale are clipped if noise or echo is reduced.
///
/// For the disk thread, one thread at a time: never the audio thread.
///
/// ```swift
/// var settings = CleaningSettings.none
/// settings.denoise = true
/// settings.highPassHertz = 80
/// var cleaner = try VoiceCleaner(settings, sampleRate: 48000, channelCount: 1)
/// var voice = SampleBuffer(frameCount: 4800, channelCount: 1)
/// cleaner.clean(&voice, frames: 4800)
/// precondition(cleaner.delayFrames > 0)  // what comes out is that much late
/// ```
public struct VoiceCleaner: ~Copyable, @unchecked Sendable {
  // @unchecked because what it refers to has one owner, which moves with the value.
  /// The supported rates, in hertz, for noise, echo, reverberation and level. At higher rates the
  /// blocks and bands of speexdsp no longer suit a voice.
  public static let voiceRates = 8000...48000
  /// The supported rates, in hertz, for a high-pass filter alone.
  public static let highPassRates = 8000...192_000
  /// The range of the cutoff frequency of the high-pass filter, in hertz.
  public static let highPassHertz = 10.0...1000.0
  /// The numbers of channels that can be cleaned together.
  public static let channelCounts = 1...64
  /// The range of the length of an echo's tail, in seconds. A longer tail is learned more slowly.
  public static let echoTailSeconds = 0.02...1.0

  private let channelCount: Int
  private let isNone: Bool
  private var highPass: HighPass?
  private var blocks: BlockCleaner?
  /// The frames received since the last block, and the frames of the last block not yet output.
  private var incoming: SampleBuffer
  private var outgoing: SampleBuffer
  private var position = 0

  /// The delay of the output, in frames.
  public let delayFrames: Int

  /// Creates a cleaner of `channelCount` channels, one of `channelCounts`. Throws if the settings
  /// are not supported or memory is insufficient.
  public init(
    _ settings: CleaningSettings, sampleRate: Int, channelCount: Int
  ) throws(CleaningFailure) {
    try Self.check(settings, sampleRate: sampleRate, channelCount: channelCount)
    var blockFrames = 0
    var delayFrames = 0
    if settings.needsBlocks {
      let made = try BlockCleaner(
        settings, sampleRate: sampleRate, channelCount: channelCount)
      blockFrames = made.blockFrames
      delayFrames = made.blockFrames + made.delayFrames
      blocks = consume made
    } else {
      blocks = nil
    }
    highPass = settings.highPassHertz.map {
      HighPass(hertz: $0, sampleRate: sampleRate, channelCount: channelCount)
    }
    self.channelCount = channelCount
    isNone = settings.isNone
    self.delayFrames = delayFrames
    incoming = SampleBuffer(frameCount: blockFrames, channelCount: channelCount)
    outgoing = SampleBuffer(frameCount: blockFrames, channelCount: channelCount)
  }

  /// Cleans the first `frames` frames in place, with silence as the played signal. The output is
  /// `delayFrames` late and begins with silence. Samples that are not a number (NaN) or infinite
  /// become silence.
  public mutating func clean(_ buffer: inout SampleBuffer, frames: Int) {
    guard prepare(&buffer, frames: frames) else { return }
    var done = 0
    while done < frames {
      let count = min(frames - done, incoming.frameCount - position)
      blocks?.addSilence(frames: count, at: position)
      exchange(&buffer, from: done, frames: count)
      done += count
    }
  }

  /// Cleans the first `frames` frames in place, while the same frames of `played` were played. Both
  /// are on one timeline, and an echo arrives `EchoSettings.delayFrames` after its cause. Two
  /// channels are two loudspeakers; for any other number, their mean is used. The first call
  /// determines which.
  public mutating func clean(
    _ buffer: inout SampleBuffer, played: borrowing SampleBuffer, frames: Int
  ) {
    requirement(
      frames <= played.frameCount,
      "The frames are outside of the buffer.")
    guard prepare(&buffer, frames: frames) else { return }
    var done = 0
    while done < frames {
      let count = min(frames - done, incoming.frameCount - position)
      blocks?.addPlayed(played, from: done, frames: count, at: position)
      exchange(&buffer, from: done, frames: count)
      done += count
    }
  }

  /// Does the processing that needs no blocks. Returns whether blocks remain to be processed.
  private mutating func prepare(_ buffer: inout SampleBuffer, frames: Int) -> Bool {
    requirement(
      buffer.channelCount == channelCount && frames >= 0 && frames <= buffer.frameCount,
      "The buffer needs the number of channels of the voice cleaner, and enough frames.")
    guard !isNone else { return false }
    for index in 0..<frames * channelCount where !buffer.base[index].isFinite {
      buffer.base[index] = 0
    }
    highPass?.filter(&buffer, frames: frames)
    return incoming.frameCount > 0
  }

  /// Stores `frames` frames for the next block and replaces them by cleaned frames.
  private mutating func exchange(_ buffer: inout SampleBuffer, from first: Int, frames: Int) {
    incoming.replace(at: position, with: buffer, from: first, frames: frames)
    buffer.replace(at: first, with: outgoing, from: position, frames: frames)
    position += frames
    guard position == incoming.frameCount else { return }
    position = 0
    blocks?.clean(&incoming)
    swap(&incoming, &outgoing)
  }

  private static func check(
    _ settings: CleaningSettings, sampleRate: Int, channelCount: Int
  ) throws(CleaningFailure) {
    let rates = settings.needsBlocks ? voiceRates : highPassRates
    guard rates.contains(sampleRate) || settings.isNone else {
      throw .unsupportedRate(sampleRate, supported: rates)
    }
    guard channelCounts.contains(channelCount) else { throw .unsupportedChannelCount(channelCount) }
    if let hertz = settings.highPassHertz, !highPassHertz.contains(hertz) {
      throw .unsupportedHighPass(hertz)
    }
    guard let echo = settings.echo else { return }
    guard (0...10 * sampleRate).contains(echo.delayFrames) else {
      throw .unsupportedEchoDelay(echo.delayFrames)
    }
    guard echoTailSeconds.contains(echo.tailSeconds) else {
      throw .unsupportedEchoTail(echo.tailSeconds)
    }
  }
}

extension CleaningSettings {
  /// Whether any setting requires processing in blocks.
  fileprivate var needsBlocks: Bool { denoise || automaticGain || dereverb || echo != nil }
}

/// The reason why a voice cannot be cleaned with the given settings.
public enum CleaningFailure: ExplainedFailure, Sendable, Equatable {
  /// The rate is outside the range that the settings support.
  case unsupportedRate(Int, supported: ClosedRange<Int>)
  /// The number of channels is outside `VoiceCleaner.channelCounts`.
  case unsupportedChannelCount(Int)
  /// The cutoff frequency of the high-pass filter is outside `VoiceCleaner.highPassHertz`.
  case unsupportedHighPass(Double)
  /// The delay of the echo is negative or longer than ten seconds.
  case unsupportedEchoDelay(Int)
  /// The tail is outside `VoiceCleaner.echoTailSeconds`.
  case unsupportedEchoTail(Double)
  /// The filters do not fit into memory.
  case outOfMemory

  /// One sentence that describes the error.
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

  /// One sentence that describes a remedy.
  public var hint: String {
    switch self {
    case .unsupportedRate(_, let rates):
      rates.upperBound == VoiceCleaner.voiceRates.upperBound
        ? "Record at \(rates.boundsText) Hz; a high-pass alone goes to "
          + "\(VoiceCleaner.highPassRates.upperBound) Hz."
        : "Use a rate of \(rates.boundsText) Hz."
    case .unsupportedChannelCount: "Use \(VoiceCleaner.channelCounts.boundsText) channels."
    case .unsupportedHighPass:
      "Use \(VoiceCleaner.highPassHertz.boundsText) Hz; 80 Hz suits most voices."
    case .unsupportedEchoDelay: "Use 0 frames to ten seconds, as measured."
    case .unsupportedEchoTail:
      "Use \(VoiceCleaner.echoTailSeconds.lowerBound) "
        + "to \(VoiceCleaner.echoTailSeconds.upperBound) seconds."
    case .outOfMemory: "Use a shorter echo tail, or close other programs."
    }
  }
}

/// The settings for cleaning a voice: noise, level, reverberation, high-pass filter and echo.
public struct CleaningSettings: Sendable, Equatable {
  /// Whether stationary noise is reduced by up to 24 dB.
  public var denoise: Bool
  /// Whether speech is brought to about -20 dBFS, with a gain of at most 30 dB and never above -1
  /// dBFS. Pauses are not amplified. Each channel has its own gain.
  public var automaticGain: Bool
  /// Whether the room's late reverberation is reduced: the predictable part is removed, and the
  /// rest is attenuated by up to 12 dB. The reverberation time is estimated from the voice. Two
  /// channels get the same gain, as a stereo signal.
  public var dereverb: Bool
  /// The frequency in hertz at which a Butterworth high-pass filter of fourth order (24 dB per
  /// octave) is 3 dB down, or nil for none.
  public var highPassHertz: Double?
  /// The settings for removing the echo of the played signal, or nil for none.
  public var echo: EchoSettings?

  /// Creates settings in which everything that is not given is off.
  public init(
    denoise: Bool = false, automaticGain: Bool = false, dereverb: Bool = false,
    highPassHertz: Double? = nil, echo: EchoSettings? = nil
  ) {
    self.denoise = denoise
    self.automaticGain = automaticGain
    self.dereverb = dereverb
    self.highPassHertz = highPassHertz
    self.echo = echo
  }

  /// The settings that change nothing.
  public static let none = CleaningSettings()

  /// Whether the settings change nothing.
  public var isNone: Bool { self == .none }
}

/// The echo of the played signal in the microphone: its delay and its tail.
public struct EchoSettings: Sendable, Equatable {
  /// The frames from playback to the first echo in the input, as measured.
  public var delayFrames: Int
  /// The duration of the room's response, in seconds from the first echo on.
  public var tailSeconds: Double

  /// Creates an echo of `delayFrames` in a room whose response lasts for `tailSeconds`.
  public init(delayFrames: Int, tailSeconds: Double = 0.2) {
    self.delayFrames = delayFrames
    self.tailSeconds = tailSeconds
  }
}

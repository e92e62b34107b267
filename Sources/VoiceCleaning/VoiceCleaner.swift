import AudioBasics

/// Cleans recorded voices: takes out rumble, echo, steady noise and reverberation, and evens the
/// level, in this order. Channels are cleaned each on its own, but for the reverberation of two,
/// which are taken as a stereo picture.
///
/// The high-pass works in double precision on float samples; noise and reverberation are lowered,
/// and the level is evened, in float. Echo, and noise with it, is lowered by speexdsp, in 16 bits:
/// rounding in and out adds noise of about -98 dBFS. What lies beyond full scale is cut off where
/// noise or echo is lowered.
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
  /// The rates, in hertz, that noise, echo, reverberation and level can be worked on at. At higher
  /// ones speexdsp's blocks and bands no longer suit a voice.
  public static let voiceRates = 8000...48000
  /// The rates, in hertz, that a high-pass alone works at.
  public static let highPassRates = 8000...192_000
  /// Where a high-pass may lie, in hertz.
  public static let highPassHertz = 10.0...1000.0
  /// How long an echo's tail may be, in seconds. The longer, the slower it is learned.
  public static let echoTailSeconds = 0.02...1.0

  private let channelCount: Int
  private let isNone: Bool
  private var highPass: HighPass?
  private var blocks: BlockCleaner?
  /// Frames that came in since the last block, and those of the last block that have not gone out.
  private var incoming: SampleBuffer
  private var outgoing: SampleBuffer
  private var position = 0

  /// Frames by which what comes out lags behind what goes in.
  public let delayFrames: Int

  /// A cleaner of `channelCount` channels (1 to 64). Throws where the settings cannot be kept.
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

  /// Cleans the first `frames` frames in place, with nothing played meanwhile. What comes out is
  /// `delayFrames` late; the first are silence. Samples that are no number become silence.
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

  /// Cleans the first `frames` frames in place, while the same frames of `played` were played:
  /// both on one timeline, an echo arriving `EchoSettings.delayFrames` after its cause. Two
  /// channels are two loudspeakers; more are taken as their mean. The first call decides which.
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

  /// Does what needs no blocks. Returns whether more is to be done.
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

  /// Puts what was cleaned before in the place of `frames` frames, which wait for their block.
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
    guard (1...64).contains(channelCount) else { throw .unsupportedChannelCount(channelCount) }
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
  /// Whether anything is needed that works in blocks.
  fileprivate var needsBlocks: Bool { denoise || automaticGain || dereverb || echo != nil }
}

/// The reason for which a voice cannot be cleaned as it was asked for.
public enum CleaningFailure: ExplainedFailure, Sendable, Equatable {
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

/// The settings for cleaning a voice: noise, level, reverberation, high-pass and echo.
public struct CleaningSettings: Sendable, Equatable {
  /// Whether steady noise is lowered by up to 24 dB.
  public var denoise: Bool
  /// Whether speech is brought to about -20 dBFS, by at most 30 dB more and never above -1 dBFS.
  /// Pauses are not raised.
  public var automaticGain: Bool
  /// Whether the room's late reverberation is lowered: what can be predicted of it is taken out,
  /// and what is left is lowered by up to 12 dB. How long the room sounds is learned from the
  /// voice. Two channels are lowered alike, as one stereo picture.
  public var dereverb: Bool
  /// Where a Butterworth high-pass of the fourth order (24 dB an octave) is 3 dB down, in hertz;
  /// nil for none.
  public var highPassHertz: Double?
  /// What takes out the voice's echo of what is played; nil for nothing.
  public var echo: EchoSettings?

  /// Nothing but what is named.
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

  /// Leave everything as it is.
  public static let none = CleaningSettings()

  /// Whether there is nothing to do.
  public var isNone: Bool { self == .none }
}

/// The echo of what is played, as the microphone captures it: its delay and its tail.
public struct EchoSettings: Sendable, Equatable {
  /// Frames from what is played to its first echo in the input, as measured.
  public var delayFrames: Int
  /// How long a room goes on sounding, in seconds from the first echo on.
  public var tailSeconds: Double

  /// An echo `delayFrames` late in a room that sounds for `tailSeconds`.
  public init(delayFrames: Int, tailSeconds: Double = 0.2) {
    self.delayFrames = delayFrames
    self.tailSeconds = tailSeconds
  }
}

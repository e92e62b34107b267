/// What is to be done to a voice.
public struct CleaningSettings: Sendable, Equatable {
  /// Whether steady noise is lowered by up to 18 dB.
  public var denoise: Bool
  /// Whether speech is brought to about -20 dBFS, by at most 30 dB more and never above -1 dBFS.
  public var automaticGain: Bool
  /// Whether the room's late reverberation is lowered, by up to 12 dB: how long the room sounds is
  /// learned from the voice. Two channels are lowered alike, as one stereo picture.
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

/// How what is played comes back through the microphone.
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

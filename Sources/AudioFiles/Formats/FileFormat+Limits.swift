/// What each kind of file can hold.
extension FileFormat {
  /// The sample formats it can hold, the narrowest first. A lossy format has no samples of its own
  /// and is given floating point.
  public var sampleFormats: [FileSampleFormat] {
    switch self {
    case .wav, .rf64, .w64, .aiff, .caf, .raw: [.s16, .s24, .s32, .float]
    case .flac: [.s16, .s24]
    case .ogg, .opus, .mp3: [.float]
    }
  }

  /// Whether it holds samples as they are, so that so many frames take so many bytes.
  public var isPlain: Bool {
    switch self {
    case .wav, .rf64, .w64, .aiff, .caf, .raw: true
    case .flac, .ogg, .opus, .mp3: false
    }
  }

  /// `wanted` where it can be held, else the widest that can: the format to use when the user asked
  /// for none.
  public func nearest(to wanted: FileSampleFormat) -> FileSampleFormat {
    sampleFormats.contains(wanted) ? wanted : sampleFormats.last ?? .s16
  }

  /// The most channels it can hold.
  public var maximumChannelCount: Int {
    switch self {
    case .flac, .ogg, .opus: 8
    case .mp3: 2
    case .wav, .rf64, .w64, .aiff, .caf, .raw: 1024
    }
  }

  /// Refuses what the format cannot hold, before anything is created: throws `.invalidRequest`
  /// with a sentence that says what it can.
  public func check(
    sampleFormat: FileSampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    guard sampleFormats.contains(sampleFormat) else {
      throw refusal(
        "hold \(sampleFormat.name) samples", hint: "Leave the sample format out, or use \(choices)."
      )
    }
    guard channelCount >= 1, channelCount <= maximumChannelCount else {
      throw refusal(
        "have \(channelCount) channels",
        hint: "Use 1 to \(maximumChannelCount) channels, or another file format.")
    }
    guard sampleRate >= 1, holds(sampleRate: sampleRate) else {
      throw refusal(
        "have a rate of \(sampleRate) Hz", hint: "Use \(rates), or another file format.")
    }
  }

  private func refusal(_ what: String, hint: String) -> FileFailure {
    let article = "AMOR".contains(title.first ?? "W") ? "An" : "A"
    return FileFailure(.invalidRequest, "\(article) \(title) file cannot \(what).", hint: hint)
  }

  private var choices: String {
    sampleFormats.map(\.name).joined(separator: " or ")
  }

  private func holds(sampleRate: Int) -> Bool {
    switch self {
    case .flac: sampleRate < 65536 || (sampleRate % 10 == 0 && sampleRate <= 655_350)
    case .ogg: sampleRate >= 8000 && sampleRate <= 192_000
    case .opus: [8000, 12000, 16000, 24000, 48000].contains(sampleRate)
    case .mp3:
      [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000].contains(sampleRate)
    case .wav, .rf64, .w64, .aiff, .caf, .raw: sampleRate <= Int(Int32.max)
    }
  }

  private var rates: String {
    switch self {
    case .flac: "a rate up to 655350 Hz (above 65535 Hz a multiple of 10)"
    case .ogg: "a rate of 8000 to 192000 Hz"
    case .opus: "48000, 24000, 16000, 12000 or 8000 Hz"
    case .mp3: "48000, 44100 or 32000 Hz, or their half or quarter"
    case .wav, .rf64, .w64, .aiff, .caf, .raw: "a rate above 0 Hz"
    }
  }
}

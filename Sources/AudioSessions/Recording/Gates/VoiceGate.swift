import AudioBasics
import AudioClocks

/// A gate that keeps speech and a short time around it. Disk thread only.
///
/// A signal is speech if it exceeds the noise in the bands of speech for long enough, or, in steady
/// noise, if its spectrum makes speech likely: from a signal-to-noise ratio of about 5 dB on. The
/// noise estimate follows changes. Music, that is tones with a constant frequency, is not speech,
/// but its drums and singers may be mistaken for it. Clicks, as of keys, are too short for
/// syllables. Nothing is decided before it is certain: a segment begins and ends where speech did,
/// not where the gate detected it.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// var settings = RecordingSettings()
/// settings.gate = { sampleRate, channelCount in
///   VoiceGate(VoiceSettings(sampleRate: sampleRate, channelCount: channelCount))
/// }
/// let recording = try await engine.record(to: "speech.wav", settings)
/// try await engine.run(seconds: 2)
/// precondition(recording.report?.frames == 0)  // there was no voice
/// ```
public struct VoiceGate: RecordingGate {
  /// The longest pause within a word: 200 ms.
  private static let pauseBlocks = 20
  /// The shortest uninterrupted syllable in blocks; a click is shorter.
  private static let minimumSyllableBlocks = 7
  /// The weight of a distinct block within a syllable; a strong one has the weight 2. The more
  /// certain each observation is, the fewer of them make a decision, so that a word of one syllable
  /// is detected (J. Ramirez, J. C. Segura, C. Benitez, L. Garcia, A. Rubio, "Statistical voice
  /// activity detection using a multiple observation likelihood ratio test", 2005, weighs them in
  /// the same way).
  private static let distinctWeight = 6
  /// The number of blocks of strong speech that keep a segment open after a longer pause.
  private static let maximumRenewalBlocks = 5
  /// The number of blocks in which the beginning of speech is searched for, in addition to the time
  /// that its detection took.
  private static let searchBlocks = 80

  private var detector: SpeechDetector
  private var edges = EdgeList()
  private let preRollFrames: Int
  private let tailFrames: Int
  private let holdBlocks: Int
  private let minimumBlocks: Int
  private let syllableBlocks: Int
  private let renewalBlocks: Int
  private let lookBackBlocks: Int
  private var receivedFrames = 0
  private var judgedBlocks = 0
  /// The evidence of speech: it grows with each block that is speech, and decreases by one with
  /// each that is not.
  private var evidence = 0
  /// The number of consecutive blocks that were speech.
  private var run = 0
  /// The block after the last syllable.
  private var syllableEnd = 0
  /// The block after the last speech, even if it was as short as the release of a consonant: such
  /// speech belongs to the segment, but does not extend the hold time.
  private var speechEnd = 0
  /// The end of the last segment, unless speech begins again before it is certain.
  private var pendingClose: Int?
  private var isJudging: Bool

  /// Whether a segment is being kept: there is speech, or there was a short time ago.
  public private(set) var isOpen = false

  /// Creates a gate for speech according to `settings`. More than 1024 channels are a fatal error
  /// with a message; a rate above 1,536,000 Hz counts as that rate.
  public init(_ settings: VoiceSettings) {
    requirement(
      settings.channelCount <= SampleBuffer.maximumChannels,
      "A gate has at most 1024 channels.")
    var settings = settings
    settings.sampleRate = min(settings.sampleRate, RateConverter.supportedRates.upperBound)
    let rate = Double(settings.sampleRate)
    // Times are limited so that sums of frames do not overflow and the frames fit into memory.
    func bounded(_ seconds: Double, _ maximum: Double = 3600) -> Double {
      seconds > 0 ? min(seconds, maximum) : 0
    }
    preRollFrames = Int(clamping: bounded(settings.preRollSeconds) * rate)
    tailFrames = Int(clamping: bounded(settings.tailSeconds) * rate)
    holdBlocks = max(1, Int(clamping: bounded(settings.holdSeconds) * 100))
    minimumBlocks = max(1, Int(clamping: bounded(settings.minimumSeconds, 60) * 100))
    // With a fixed threshold, everything above it is kept, syllables and clicks.
    syllableBlocks = settings.thresholdDBFS == nil ? Self.minimumSyllableBlocks : 2
    renewalBlocks = min(Self.maximumRenewalBlocks, minimumBlocks)
    lookBackBlocks = minimumBlocks + Self.searchBlocks
    isJudging = settings.thresholdDBFS != nil
    detector = SpeechDetector(settings, rememberedBlocks: lookBackBlocks + 1)
  }

  /// The level of the loudest channel's speech bands over the last 10 ms, in dBFS.
  public var levelDBFS: Double { detector.levelDBFS }

  /// The level of the noise in these bands, in dBFS; nil until 300 ms were analysed.
  public var floorDBFS: Double? { detector.floorDBFS }

  /// Analyses the frames.
  public mutating func process(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int, frames: Int
  ) {
    requirement(
      buffer.channelCount == detector.channelCount,
      "The buffer and the gate must have the same number of channels.")
    buffer.requireFrames(from: firstFrame, frames)
    var done = 0
    while done < frames {
      let piece = detector.process(buffer, from: firstFrame + done, to: firstFrame + frames)
      done += piece.frames
      receivedFrames += piece.frames
      if piece.isBlock { judge(to: detector.blocks - detector.lookaheadBlocks) }
    }
  }

  /// Returns the beginning or the end of a segment, once it is certain.
  public mutating func nextEdge() -> GateEdge? { edges.next() }

  /// The frame up to which the decision is certain. While the gate is closed, speech may be found
  /// to have begun earlier; while it is open, speech may be found to have ended.
  public var decidedFrame: Int {
    if let waiting = edges.firstFrame { return waiting }
    if let pendingClose { return min(receivedFrames, pendingClose) }
    let certain = isOpen ? segmentEnd : earliestOpening
    return max(edges.lastFrame, min(receivedFrames, certain))
  }

  /// Ends an open segment after the last speech.
  public mutating func finish() {
    judge(to: detector.blocks)
    if isOpen { pendingClose = segmentEnd }
    if let pendingClose { edges.add(.close(min(receivedFrames, pendingClose))) }
    pendingClose = nil
    isOpen = false
    evidence = 0
  }

  /// The range in which the beginning of speech is searched for, or the time that the gate waits
  /// for its end, whichever is longer.
  public var lookaheadFrames: Int {
    let block = detector.blockFrames
    return max(lookBackBlocks * block + preRollFrames, holdBlocks * block - tailFrames)
      + (2 + detector.lookaheadBlocks) * block
  }

  /// The earliest frame at which a segment can begin.
  private var earliestOpening: Int {
    max(0, (judgedBlocks - lookBackBlocks) * detector.blockFrames - preRollFrames)
  }

  /// The end of the open segment, unless there is more speech.
  private var segmentEnd: Int { speechEnd * detector.blockFrames + tailFrames }

  private mutating func judge(to end: Int) {
    while judgedBlocks < end {
      judgedBlocks += 1
      judge(judgedBlocks - 1)
    }
  }

  private mutating func judge(_ block: Int) {
    if !isJudging && detector.floorDBFS != nil {
      // The earlier blocks can be judged only now.
      isJudging = true
      for earlier in max(0, block - NoiseFloor.firstBlocks)..<block { weigh(earlier) }
    }
    weigh(block)
    if isOpen {
      followSpeech(at: block)
    } else if evidence >= 2 * minimumBlocks && run > 0 {
      let first = beginning(before: block)
      // The noise hides the beginning and the end of a short word.
      if 4 * (block + 1 - first) >= 3 * minimumBlocks { open(from: first, at: block) }
    }
    if !isOpen, let pendingClose, earliestOpening > pendingClose {
      edges.add(.close(pendingClose))
      self.pendingClose = nil
    }
  }

  private mutating func weigh(_ block: Int) {
    let kind = detector.evidence(at: block)
    run = kind == .none ? 0 : run + 1
    switch kind {
    case .none: evidence -= 1
    case .weak: break
    case .strong: evidence += 2
    case .distinct: evidence += run >= Self.minimumSyllableBlocks ? Self.distinctWeight : 2
    }
    // The limit leaves room for a pause within a word that is long enough.
    evidence = max(0, min(evidence, 2 * minimumBlocks + Self.pauseBlocks))
  }

  /// Begins a segment, after speech from block `first` on was detected in `block`.
  private mutating func open(from first: Int, at block: Int) {
    isOpen = true
    evidence = 0
    syllableEnd = block + 1
    speechEnd = block + 1
    let frame = max(edges.lastFrame, first * detector.blockFrames - preRollFrames)
    if let end = pendingClose {
      pendingClose = nil
      // Adjoining segments become one.
      if frame <= end { return }
      edges.add(.close(end))
    }
    edges.add(.open(frame))
  }

  /// Returns the first block of the speech that was detected in `block`: it may begin with a
  /// sibilant that is too faint to be detected as speech by itself.
  private func beginning(before block: Int) -> Int {
    var first = block
    var candidate = block
    while candidate > max(0, block - lookBackBlocks), first - candidate <= Self.pauseBlocks {
      candidate -= 1
      if isSpeech(candidate) && isSpeech(candidate + 1) { first = candidate }
    }
    return first
  }

  private func isSpeech(_ block: Int) -> Bool {
    detector.evidence(at: block) != .none
  }

  /// Records the end of the speech in the open segment.
  private mutating func followSpeech(at block: Int) {
    let isNear = block - syllableEnd <= Self.pauseBlocks
    if isNear && run >= 2 { speechEnd = block + 1 }
    if run >= syllableBlocks && (isNear || evidence >= 2 * renewalBlocks) {
      speechEnd = block + 1
      syllableEnd = block + 1
      evidence = 0
    }
    guard block + 1 - syllableEnd >= holdBlocks else { return }
    isOpen = false
    pendingClose = segmentEnd
  }
}

/// The settings of a `VoiceGate`: its criteria for speech, and the times that it keeps around it.
public struct VoiceSettings: Sendable, Equatable {
  /// The sample rate in frames per second.
  public var sampleRate: Int
  /// The number of channels; speech in any of them counts.
  public var channelCount: Int
  /// The level from which on a signal is speech, in dBFS: the RMS within the band of speech, where
  /// a full-scale sine has -3. nil means a level relative to the noise.
  public var thresholdDBFS: Double?
  /// The time kept before speech begins: at most one hour, like the hold time and the tail.
  public var preRollSeconds = 0.5
  /// The time without speech after which a segment ends.
  public var holdSeconds = 1.0
  /// The time kept after speech has ended.
  public var tailSeconds = 0.5
  /// The minimum duration of speech that opens a segment, at most one minute. Speech far above the
  /// noise may be a quarter shorter, since the noise hides its beginning and end.
  public var minimumSeconds = 0.2

  /// The default settings for a recording of `channelCount` channels at `sampleRate` Hz.
  public init(sampleRate: Int, channelCount: Int, thresholdDBFS: Double? = nil) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.thresholdDBFS = thresholdDBFS
  }
}

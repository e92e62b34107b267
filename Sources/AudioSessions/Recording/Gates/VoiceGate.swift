import AudioBasics

/// Keeps speech, and a little of what lies around it. Disk thread only.
///
/// Speech is what rises above the noise in the bands of speech for long enough, or what its spectrum
/// shows to be likely speech where the noise is steady: from a signal-to-noise ratio of about 5 dB on.
/// The noise is followed as it changes. Music, which is tones that stay at their frequency, is not
/// speech, but its drums and its singers may be taken for it. Nothing is decided before it is certain: a segment begins and ends
/// where speech did, not where that was noticed.
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
  /// Pauses within a word: 200 ms.
  private static let pauseBlocks = 20
  /// Speech that lasts this long, in blocks, after such a pause keeps a segment open.
  private static let mostRenewalBlocks = 5
  /// How far back the beginning of speech is looked for, beyond the time it took to notice it.
  private static let searchBlocks = 80

  private var detector: SpeechDetector
  private var edges = EdgeList()
  private let preRollFrames: Int
  private let tailFrames: Int
  private let holdBlocks: Int
  private let minimumBlocks: Int
  private let renewalBlocks: Int
  private let searchBlocks: Int
  private var receivedFrames = 0
  /// Grows by two with each block that is speech, shrinks by one with each that is not.
  private var evidence = 0
  /// The block after the last one that was speech.
  private var speechEnd = 0
  /// Where the segment ends that is over, unless speech begins again before it is certain.
  private var pendingClose: Int?
  private var isJudging: Bool

  /// Whether a segment is being kept: speech is there, or was until a moment ago.
  public private(set) var isOpen = false

  /// A gate for speech as `settings` say.
  public init(_ settings: VoiceSettings) {
    let rate = Double(settings.sampleRate)
    preRollFrames = Int(clamping: max(0, settings.preRollSeconds) * rate)
    tailFrames = Int(clamping: max(0, settings.tailSeconds) * rate)
    holdBlocks = max(1, Int(clamping: settings.holdSeconds * 100))
    minimumBlocks = max(1, Int(clamping: settings.minimumSeconds * 100))
    renewalBlocks = min(Self.mostRenewalBlocks, minimumBlocks)
    searchBlocks = minimumBlocks + Self.searchBlocks
    isJudging = settings.thresholdDBFS != nil
    detector = SpeechDetector(settings, rememberedBlocks: searchBlocks + 1)
  }

  /// The level of the loudest channel's speech bands over the last 10 ms, in dBFS.
  public var levelDBFS: Double { detector.levelDBFS }

  /// The level of the noise there, in dBFS; nil until 300 ms were analysed.
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
      if piece.isBlock { judge() }
    }
  }

  /// The beginning or the end of a segment, once it is certain.
  public mutating func nextEdge() -> GateEdge? { edges.next() }

  /// While nothing is kept, speech may turn out to have begun a while ago; while it is, it may turn
  /// out to have ended.
  public var decidedFrame: Int {
    if let waiting = edges.firstFrame { return waiting }
    if let pendingClose { return min(receivedFrames, pendingClose) }
    let certain = isOpen ? speechEnd * detector.blockFrames + tailFrames : earliestOpening
    return max(edges.lastFrame, min(receivedFrames, certain))
  }

  /// What is open ends with the last speech.
  public mutating func finish() {
    if isOpen { pendingClose = speechEnd * detector.blockFrames + tailFrames }
    if let pendingClose { edges.add(.close(min(receivedFrames, pendingClose))) }
    pendingClose = nil
    isOpen = false
    evidence = 0
  }

  /// As far as the beginning of speech is looked for, or as long as its end is waited for.
  public var lookaheadFrames: Int {
    let block = detector.blockFrames
    return max(searchBlocks * block + preRollFrames, holdBlocks * block - tailFrames) + 2 * block
  }

  /// Where a segment could begin at the earliest.
  private var earliestOpening: Int {
    max(0, (detector.blocks - searchBlocks) * detector.blockFrames - preRollFrames)
  }

  private mutating func judge() {
    let block = detector.blocks - 1
    if !isJudging && detector.floorDBFS != nil {
      // Only now can the earlier blocks be judged.
      isJudging = true
      for earlier in max(0, block - NoiseFloor.firstBlocks)..<block { weigh(earlier) }
    }
    weigh(block)
    if isOpen {
      followSpeech(at: block)
    } else if evidence >= 2 * minimumBlocks {
      open(at: block)
    }
    if !isOpen, let pendingClose, earliestOpening > pendingClose {
      edges.add(.close(pendingClose))
      self.pendingClose = nil
    }
  }

  private mutating func weigh(_ block: Int) {
    switch detector.evidence(at: block) {
    case .strong: evidence = min(evidence + 2, 2 * minimumBlocks)
    case .weak: break
    case .none: evidence = max(0, evidence - 1)
    }
  }

  /// Begins a segment: speech was noticed in `block`.
  private mutating func open(at block: Int) {
    let onset = beginning(before: block) * detector.blockFrames
    isOpen = true
    evidence = 0
    speechEnd = block + 1
    let frame = max(edges.lastFrame, onset - preRollFrames)
    if let end = pendingClose {
      pendingClose = nil
      // What would touch is one.
      if frame <= end { return }
      edges.add(.close(end))
    }
    edges.add(.open(frame))
  }

  /// The first block of the speech that was noticed in `block`: a sibilant may have come first, too
  /// faint to be speech by itself.
  private func beginning(before block: Int) -> Int {
    var first = block
    var candidate = block
    while candidate > max(0, block - searchBlocks), first - candidate <= Self.pauseBlocks {
      candidate -= 1
      if isSpeech(candidate) && isSpeech(candidate + 1) { first = candidate }
    }
    return first
  }

  private func isSpeech(_ block: Int) -> Bool {
    switch detector.evidence(at: block) {
    case .none: false
    case .weak, .strong: true
    }
  }

  /// Notes where speech ends that has begun.
  private mutating func followSpeech(at block: Int) {
    let isNear = block - speechEnd <= Self.pauseBlocks
    if isNear ? isSpeech(block) && isSpeech(block - 1) : evidence >= 2 * renewalBlocks {
      speechEnd = block + 1
      evidence = 0
    }
    guard block + 1 - speechEnd >= holdBlocks else { return }
    isOpen = false
    pendingClose = speechEnd * detector.blockFrames + tailFrames
  }
}

/// What a `VoiceGate` takes for speech, and what it keeps around it.
public struct VoiceSettings: Sendable, Equatable {
  /// Frames a second.
  public var sampleRate: Int
  /// Channels of a frame; speech in any of them counts.
  public var channelCount: Int
  /// The level from which on sound is speech, in dBFS: the RMS within the band of speech, where a
  /// sine at full scale has -3. Nil: as far above the noise as speech rises, wherever that lies.
  public var thresholdDBFS: Double?
  /// What is kept before speech begins.
  public var preRollSeconds = 0.5
  /// How long it must be quiet until a segment ends.
  public var holdSeconds = 1.0
  /// What is kept after speech has ended.
  public var tailSeconds = 0.5
  /// Sounds shorter than this open nothing.
  public var minimumSeconds = 0.2

  /// The default settings for a recording of `channelCount` channels at `sampleRate` Hz.
  public init(sampleRate: Int, channelCount: Int, thresholdDBFS: Double? = nil) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.thresholdDBFS = thresholdDBFS
  }
}

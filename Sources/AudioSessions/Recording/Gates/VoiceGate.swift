import AudioBasics

/// Keeps speech, and a little of what lies around it. Disk thread only.
///
/// Speech is what rises above the noise in the bands of speech for long enough, or what its
/// spectrum shows to be likely speech where the noise is steady: from a signal-to-noise ratio of
/// about 5 dB on. The noise is followed as it changes. Music, which is tones that stay at their
/// frequency, is not speech, but its drums and its singers may be taken for it. Clicks, as of keys,
/// are too short for syllables. Nothing is decided before it is certain: a segment begins and ends
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
  /// A syllable lasts this long without a break, in blocks; a click does not.
  private static let leastSyllableBlocks = 7
  /// What a block that is distinct counts for within a syllable, where one that is just strong
  /// counts for two: the surer each observation is, the fewer of them make a decision, so that a
  /// word of one syllable is found (J. Ramirez, J. C. Segura, C. Benitez, L. Garcia, A. Rubio,
  /// "Statistical voice activity detection using a multiple observation likelihood ratio test",
  /// 2005, weighs them in the same way).
  private static let distinctWeight = 6
  /// This many blocks of strong speech keep a segment open after a longer pause.
  private static let mostRenewalBlocks = 5
  /// How far back the beginning of speech is looked for, beyond the time it took to notice it.
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
  /// Grows with each block that is speech, shrinks by one with each that is not.
  private var evidence = 0
  /// How many blocks in a row were speech.
  private var run = 0
  /// The block after the last syllable.
  private var syllableEnd = 0
  /// The block after the last sound that was speech, if only as short as the release of a
  /// consonant: it belongs to the speech before it, and is not waited upon for more.
  private var speechEnd = 0
  /// Where the segment ends that is over, unless speech begins again before it is certain.
  private var pendingClose: Int?
  private var isJudging: Bool

  /// Whether a segment is being kept: speech is there, or was until a moment ago.
  public private(set) var isOpen = false

  /// A gate for speech as `settings` say.
  public init(_ settings: VoiceSettings) {
    let rate = Double(settings.sampleRate)
    // Whatever is asked for: times within which sums of frames can be counted, and that fit in
    // memory.
    func bounded(_ seconds: Double, _ most: Double = 3600) -> Double {
      seconds > 0 ? min(seconds, most) : 0
    }
    preRollFrames = Int(clamping: bounded(settings.preRollSeconds) * rate)
    tailFrames = Int(clamping: bounded(settings.tailSeconds) * rate)
    holdBlocks = max(1, Int(clamping: bounded(settings.holdSeconds) * 100))
    minimumBlocks = max(1, Int(clamping: bounded(settings.minimumSeconds, 60) * 100))
    // Where the threshold is fixed, all above it is wanted, be it syllables or clicks.
    syllableBlocks = settings.thresholdDBFS == nil ? Self.leastSyllableBlocks : 2
    renewalBlocks = min(Self.mostRenewalBlocks, minimumBlocks)
    lookBackBlocks = minimumBlocks + Self.searchBlocks
    isJudging = settings.thresholdDBFS != nil
    detector = SpeechDetector(settings, rememberedBlocks: lookBackBlocks + 1)
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
      if piece.isBlock { judge(to: detector.blocks - detector.lookaheadBlocks) }
    }
  }

  /// The beginning or the end of a segment, once it is certain.
  public mutating func nextEdge() -> GateEdge? { edges.next() }

  /// While nothing is kept, speech may turn out to have begun a while ago; while it is, it may turn
  /// out to have ended.
  public var decidedFrame: Int {
    if let waiting = edges.firstFrame { return waiting }
    if let pendingClose { return min(receivedFrames, pendingClose) }
    let certain = isOpen ? segmentEnd : earliestOpening
    return max(edges.lastFrame, min(receivedFrames, certain))
  }

  /// Ends an open segment with the last speech.
  public mutating func finish() {
    judge(to: detector.blocks)
    if isOpen { pendingClose = segmentEnd }
    if let pendingClose { edges.add(.close(min(receivedFrames, pendingClose))) }
    pendingClose = nil
    isOpen = false
    evidence = 0
  }

  /// As far as the beginning of speech is looked for, or as long as its end is waited for.
  public var lookaheadFrames: Int {
    let block = detector.blockFrames
    return max(lookBackBlocks * block + preRollFrames, holdBlocks * block - tailFrames)
      + (2 + detector.lookaheadBlocks) * block
  }

  /// Where a segment could begin at the earliest.
  private var earliestOpening: Int {
    max(0, (judgedBlocks - lookBackBlocks) * detector.blockFrames - preRollFrames)
  }

  /// Where the open segment ends unless there is more speech.
  private var segmentEnd: Int { speechEnd * detector.blockFrames + tailFrames }

  private mutating func judge(to end: Int) {
    while judgedBlocks < end {
      judgedBlocks += 1
      judge(judgedBlocks - 1)
    }
  }

  private mutating func judge(_ block: Int) {
    if !isJudging && detector.floorDBFS != nil {
      // Only now can the earlier blocks be judged.
      isJudging = true
      for earlier in max(0, block - NoiseFloor.firstBlocks)..<block { weigh(earlier) }
    }
    weigh(block)
    if isOpen {
      followSpeech(at: block)
    } else if evidence >= 2 * minimumBlocks && run > 0 {
      let first = beginning(before: block)
      // The noise hides where a short word begins and ends.
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
    case .distinct: evidence += run >= Self.leastSyllableBlocks ? Self.distinctWeight : 2
    }
    // A word that is long enough may still have a pause within it.
    evidence = max(0, min(evidence, 2 * minimumBlocks + Self.pauseBlocks))
  }

  /// Begins a segment: speech from block `first` on was noticed in `block`.
  private mutating func open(from first: Int, at block: Int) {
    isOpen = true
    evidence = 0
    syllableEnd = block + 1
    speechEnd = block + 1
    let frame = max(edges.lastFrame, first * detector.blockFrames - preRollFrames)
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
    while candidate > max(0, block - lookBackBlocks), first - candidate <= Self.pauseBlocks {
      candidate -= 1
      if isSpeech(candidate) && isSpeech(candidate + 1) { first = candidate }
    }
    return first
  }

  private func isSpeech(_ block: Int) -> Bool {
    detector.evidence(at: block) != .none
  }

  /// Notes where speech ends that has begun.
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

/// The settings of a `VoiceGate`: what it takes for speech, and what it keeps around it.
public struct VoiceSettings: Sendable, Equatable {
  /// Frames a second.
  public var sampleRate: Int
  /// Channels of a frame; speech in any of them counts.
  public var channelCount: Int
  /// The level from which on sound is speech, in dBFS: the RMS within the band of speech, where a
  /// sine at full scale has -3. Nil: as far above the noise as speech rises, wherever that lies.
  public var thresholdDBFS: Double?
  /// What is kept before speech begins: an hour at most, as of the hold time and the tail.
  public var preRollSeconds = 0.5
  /// How long it must be quiet until a segment ends.
  public var holdSeconds = 1.0
  /// What is kept after speech has ended.
  public var tailSeconds = 0.5
  /// Sounds shorter than this, a minute at most, open nothing; what is far above the noise may be
  /// shorter by a quarter, as the noise hides where it begins and ends.
  public var minimumSeconds = 0.2

  /// The default settings for a recording of `channelCount` channels at `sampleRate` Hz.
  public init(sampleRate: Int, channelCount: Int, thresholdDBFS: Double? = nil) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.thresholdDBFS = thresholdDBFS
  }
}

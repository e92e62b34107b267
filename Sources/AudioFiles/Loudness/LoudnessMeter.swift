import AudioBasics
import CEbur128

/// How loud a programme is: loudness and true peak by ITU-R BS.1770 and EBU R 128, and what can be
/// said of its samples one by one.
///
/// Takes the same memory for a second as for a day. One thread at a time, never the audio thread.
public struct LoudnessMeter: ~Copyable, @unchecked Sendable {
  // @unchecked because the state has one owner, which moves with the value.
  /// nil for rates and channels the standard has no filter for: then samples are all there is.
  private let state: UnsafeMutablePointer<ebur128_state>?
  private let channelCount: Int
  private var channels: [SampleStatistics]
  /// Frames between two looks at the momentary loudness: 10 ms. In EBU Tech 3341 (cases 13 and 14)
  /// a tone of 400 ms begins anywhere and is to be shown to 0.1 LU.
  private let lookFrames: Int
  private var framesSinceLook = 0
  private var lookCount = 0
  private var maximumMomentary = -Double.infinity
  private var maximumShortTerm = -Double.infinity

  /// A meter that has heard nothing.
  public init(sampleRate: Int, channelCount: Int) {
    self.channelCount = max(0, channelCount)
    channels = Array(repeating: SampleStatistics(), count: self.channelCount)
    lookFrames = max(1, sampleRate / 100)
    // A histogram in place of every block's energy: accurate to 0.1 LU, and it never grows.
    let mode =
      EBUR128_MODE_I.rawValue | EBUR128_MODE_LRA.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue
      | EBUR128_MODE_HISTOGRAM.rawValue
    state =
      (1...64).contains(channelCount) && (16...2_822_400).contains(sampleRate)
      ? ebur128_init(UInt32(channelCount), UInt(sampleRate), Int32(mode)) : nil
  }

  deinit {
    var state = state
    if state != nil { ebur128_destroy(&state) }
  }

  /// Hears `frames` frames of `buffer` from `firstFrame` on. Frames with samples that are no
  /// number count for the sample peaks only, and so do the others of the same call.
  public mutating func add(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int
  ) {
    precondition(buffer.channelCount == channelCount)
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame + frames <= buffer.frameCount)
    let samples = UnsafePointer(buffer.base + firstFrame * channelCount)
    var isFinite = true
    for channel in 0..<channelCount {
      let finite = channels[channel].add(samples + channel, count: frames, stride: channelCount)
      isFinite = isFinite && finite
    }
    // The filters never forget what is no number.
    guard isFinite, let state else { return }
    var done = 0
    while done < frames {
      let count = min(frames - done, lookFrames - framesSinceLook)
      ebur128_add_frames_float(state, samples + done * channelCount, count)
      done += count
      framesSinceLook += count
      if framesSinceLook == lookFrames { look() }
    }
  }

  /// Each channel's highest magnitude so far, exactly; full scale is 1.
  public var samplePeaks: [Float] { channels.map(\.peak) }

  /// Loudness of all that was heard, in LUFS; nil when nothing was loud enough to count.
  public var integratedLUFS: Double? { value(ebur128_loudness_global) }

  /// All there is to say of what was heard so far.
  public var levels: ProgrammeLevels {
    let integrated = integratedLUFS
    var truePeaks = samplePeaks
    // No closure: the compiler (6.3.1) crashes where one reads a value that cannot be copied.
    for channel in 0..<channelCount { truePeaks[channel] = truePeak(of: channel) }
    return ProgrammeLevels(
      samplePeaks: samplePeaks, truePeaks: truePeaks,
      meanSquares: channels.map(\.meanSquare), offsets: channels.map(\.offset),
      clippedSamples: channels.map(\.clippedSamples), integratedLUFS: integrated,
      // The library answers zero, too, while there is no block of three seconds.
      loudnessRangeLU: integrated != nil && lookCount >= 300
        ? value(ebur128_loudness_range) : nil,
      momentaryLUFS: value(ebur128_loudness_momentary),
      shortTermLUFS: value(ebur128_loudness_shortterm),
      maximumMomentaryLUFS: maximumMomentary.isFinite ? maximumMomentary : nil,
      maximumShortTermLUFS: maximumShortTerm.isFinite ? maximumShortTerm : nil)
  }

  private mutating func look() {
    framesSinceLook = 0
    lookCount += 1
    if let momentary = value(ebur128_loudness_momentary) {
      maximumMomentary = max(maximumMomentary, momentary)
    }
    // Three seconds change little in 100 ms.
    if lookCount % 10 == 0, let shortTerm = value(ebur128_loudness_shortterm) {
      maximumShortTerm = max(maximumShortTerm, shortTerm)
    }
  }

  private func truePeak(of channel: Int) -> Float {
    var peak = 0.0
    guard let state, ebur128_true_peak(state, UInt32(channel), &peak) == 0 else {
      return channels[channel].peak
    }
    return max(Float(peak), channels[channel].peak)
  }

  private func value(
    _ ask: (UnsafeMutablePointer<ebur128_state>?, UnsafeMutablePointer<Double>?) -> Int32
  ) -> Double? {
    var answer = 0.0
    guard let state, ask(state, &answer) == 0, answer.isFinite else { return nil }
    return answer
  }
}

/// What a `LoudnessMeter` has heard so far, at one moment.
public struct ProgrammeLevels: Sendable, Equatable {
  /// Each channel's highest magnitude, exactly; full scale is 1.
  public var samplePeaks: [Float] = []
  /// Each channel's highest magnitude between samples too, full scale is 1: by ITU-R BS.1770 at
  /// four times rates below 96 kHz, twice those below 192 kHz, and the sample peak above.
  public var truePeaks: [Float] = []
  /// Each channel's mean of all squared samples; its root is the RMS level.
  public var meanSquares: [Double] = []
  /// Each channel's mean of all samples: its constant part (DC).
  public var offsets: [Double] = []
  /// Each channel's samples at full scale or beyond that have such a neighbour.
  ///
  /// At full scale is what is at least 32,767/32,768: the highest that a converter of 16 bits
  /// delivers. One such sample alone may be a peak that was normalised; two in a row hardly ever
  /// are. (Audacity's Find Clipping counts runs of three by default; its manual leaves it open.)
  public var clippedSamples: [Int] = []
  /// Loudness of the whole by ITU-R BS.1770 and EBU R 128, in LUFS; nil when nothing was loud
  /// enough to count.
  public var integratedLUFS: Double?
  /// Loudness range by EBU Tech 3342, in LU; nil before three seconds or when nothing was loud
  /// enough to count.
  public var loudnessRangeLU: Double?
  /// Loudness of the last 400 ms, in LUFS; nil for silence.
  public var momentaryLUFS: Double?
  /// Loudness of the last three seconds, in LUFS; nil for silence.
  public var shortTermLUFS: Double?
  /// The highest momentary loudness, looked at every 10 ms, in LUFS; nil for silence.
  public var maximumMomentaryLUFS: Double?
  /// The highest short-term loudness, looked at every 100 ms, in LUFS; nil for silence.
  public var maximumShortTermLUFS: Double?
}

extension ProgrammeLevels {
  /// What a meter of no channels has heard.
  public static var nothing: ProgrammeLevels { ProgrammeLevels() }
}

/// What can be said of a channel's samples one by one: peak, power, constant part and clipping.
struct SampleStatistics {
  /// What counts as full scale: the highest a converter of 16 bits delivers.
  static let fullScale: Float = 32767 / 32768

  private(set) var peak: Float = 0
  private(set) var clippedSamples = 0
  private var sum = 0.0
  private var sumOfSquares = 0.0
  private var sampleCount = 0.0
  /// Samples in a row, up to now, at full scale.
  private var clippedRun = 0

  var meanSquare: Double { sampleCount > 0 ? sumOfSquares / sampleCount : 0 }
  var offset: Double { sampleCount > 0 ? sum / sampleCount : 0 }

  /// Counts `count` samples that lie `stride` apart. Returns whether each is a finite number:
  /// otherwise all but the peak is as if they had not been.
  mutating func add(_ samples: UnsafePointer<Float>, count: Int, stride: Int) -> Bool {
    var highest = peak
    // Zero as long as all are finite.
    var doubt: Float = 0
    var sum = 0.0
    var squares = 0.0
    var index = 0
    for _ in 0..<count {
      let sample = samples[index]
      index &+= stride
      doubt += sample * 0
      highest = abs(sample) > highest ? abs(sample) : highest
      let value = Double(sample)
      sum += value
      squares += value * value
    }
    let hasClipped = highest >= Self.fullScale
    peak = highest
    guard doubt == 0 else {
      clippedRun = 0
      return false
    }
    self.sum += sum
    sumOfSquares += squares
    sampleCount += Double(count)
    if hasClipped { countClipped(samples, count: count, stride: stride) }
    return true
  }

  private mutating func countClipped(_ samples: UnsafePointer<Float>, count: Int, stride: Int) {
    for frame in 0..<count {
      guard abs(samples[frame &* stride]) >= Self.fullScale else {
        clippedRun = 0
        continue
      }
      clippedRun &+= 1
      // The second of a run vouches for the first.
      clippedSamples &+= clippedRun == 1 ? 0 : clippedRun == 2 ? 2 : 1
    }
  }
}

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

import AudioBasics
import CVectors

/// Meter of a programme: loudness and true peak by ITU-R BS.1770 and EBU R 128, and statistics of
/// its samples.
///
/// Takes the same memory for a second as for a day. One thread at a time, never the audio thread.
///
/// ```swift
/// let meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
/// precondition(meter.integratedLUFS == nil)
/// ```
public struct LoudnessMeter: ~Copyable, Sendable {
  private let channelCount: Int
  private let weighting: KWeighting
  /// False for rates and channels the standard has no filter for: then samples are all there is.
  private let hasLoudness: Bool
  private var pairs: [WeightedPair]
  private let weights: [SIMD2<Double>]
  private var samples: [SampleStatistics]
  /// Room for the sums of the frames that are being added.
  private var sums: [ChannelSums]
  private var truePeaks: TruePeaks
  /// Frames in which the mean squares and the constant parts were summed up.
  private var frameCount = 0.0

  /// A hundredth of a second is looked at as a whole: in EBU Tech 3341 (cases 13 and 14) a tone of
  /// 400 ms begins anywhere and is to be shown to 0.1 LU.
  private var hopCount = 0
  private var framesLeft: Int
  private let framesOfTenHops: Int
  /// The weighted powers of the last three seconds, in a ring.
  private var hops = [Double](repeating: 0, count: 300)
  private var blocks = LoudnessHistogram()
  private var shortTermBlocks = LoudnessHistogram()
  private var maximumMomentary = 0.0
  private var maximumShortTerm = 0.0

  /// A meter that has heard nothing.
  public init(sampleRate: Int, channelCount: Int) {
    self.channelCount = max(0, channelCount)
    samples = Array(repeating: SampleStatistics(), count: self.channelCount)
    sums = Array(repeating: ChannelSums(), count: self.channelCount)
    pairs = Array(repeating: WeightedPair(), count: (self.channelCount + 1) / 2)
    weights = (0..<pairs.count).map { pair in
      SIMD2(
        Self.weight(ofChannel: 2 * pair, of: channelCount),
        Self.weight(ofChannel: 2 * pair + 1, of: channelCount))
    }
    hasLoudness = (1...64).contains(channelCount) && (16...2_822_400).contains(sampleRate)
    weighting = KWeighting(sampleRate: hasLoudness ? sampleRate : 48000)
    framesOfTenHops = hasLoudness ? (sampleRate + 5) / 10 : 0
    framesLeft = framesOfTenHops / 10
    truePeaks = TruePeaks(sampleRate: sampleRate, channelCount: channelCount)
  }

  /// How much a channel counts (BS.1770-5, annex 3, table 4): 1.5 dB more where its loudspeaker
  /// stands 60 to 120 degrees to the side, and not at all where it plays low frequencies only. The
  /// channels are those of a WAV file of that number of channels: left, right, centre, low
  /// frequencies, back, side; more than eight have no places, and count all alike.
  private static func weight(ofChannel channel: Int, of count: Int) -> Double {
    guard channel < count else { return 0 }
    return switch (count, channel) {
    // The surround channels of 4.0, 5.0 and 5.1 stand at 110 degrees, the back ones beside side
    // ones at 135 or 180.
    case (4, 2...), (5, 3...), (6, 4...), (7, 5...), (8, 6...): 1.41
    case (6...8, 3): 0
    default: 1
    }
  }

  /// Hears `frames` frames of `buffer` from `firstFrame` on. Frames with samples that are no
  /// number count for the sample peaks only, and so do others within a hundredth of a second.
  public mutating func add(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int
  ) {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the meter must have the same number of channels.")
    buffer.requireFrames(from: firstFrame, frames)
    guard channelCount > 0 else { return }
    var done = 0
    while done < frames {
      // At rates below 100 Hz a hop may have no frame.
      while hasLoudness, framesLeft == 0 { endHop() }
      let count = !hasLoudness ? frames - done : min(frames - done, framesLeft)
      if add(buffer, from: firstFrame + done, count: count), hasLoudness { framesLeft -= count }
      done += count
    }
    while hasLoudness, framesLeft == 0 { endHop() }
  }

  /// Adds frames of one hop. False where a sample is no number.
  private mutating func add(
    _ buffer: borrowing SampleBuffer, from first: Int, count: Int
  ) -> Bool {
    let base = UnsafePointer(buffer.base + first * channelCount)
    guard SampleStatistics.add(base, frames: count, to: &samples, &sums) else { return false }
    truePeaks.add(buffer, from: first, frames: count)
    for pair in 0..<pairs.count {
      // Where there is no second channel, the first stands in for it and weighs nothing.
      let second = min(2 * pair + 1, channelCount - 1)
      pairs[pair].add(base + 2 * pair, base + second, stride: channelCount, count: count, weighting)
    }
    frameCount += Double(count)
    return true
  }

  /// A hundredth of a second is over.
  private mutating func endHop() {
    var power = 0.0
    for pair in 0..<pairs.count { power += pairs[pair].takePower(weights[pair], weighting) }
    hops[hopCount % hops.count] = power
    hopCount += 1
    // Ten hops are a tenth of a second to the frame.
    framesLeft = framesOfTenHops * (hopCount % 10 + 1) / 10 - framesOfTenHops * (hopCount % 10) / 10
    let momentary = mean(hops: 40)
    maximumMomentary = max(maximumMomentary, momentary)
    guard hopCount % 10 == 0 else { return }
    // Blocks of 400 ms, three quarters of each in the next one as well.
    if hopCount >= 40 { blocks.add(momentary) }
    let shortTerm = mean(hops: 300)
    maximumShortTerm = max(maximumShortTerm, shortTerm)
    if hopCount >= 300, hopCount % 100 == 0 { shortTermBlocks.add(shortTerm) }
  }

  /// The mean power of the last `count` hops, a multiple of ten.
  private func mean(hops count: Int) -> Double {
    let end = hopCount % hops.count
    let span = hops.span
    // What lies before the end of the ring's latest hop, and what of it lies at the ring's end.
    let early = min(end, count)
    var sum = 0.0
    for index in end - early..<end { sum += span[index] }
    for index in hops.count - (count - early)..<hops.count { sum += span[index] }
    return sum / Double(framesOfTenHops * count / 10)
  }

  /// Each channel's highest magnitude so far, exactly; full scale is 1.
  public var samplePeaks: [Float] { samples.map(\.peak) }

  /// Loudness of all that was heard, in LUFS; nil when nothing was loud enough to count.
  public var integratedLUFS: Double? { blocks.integrated }

  /// All there is to say of what was heard so far.
  public var levels: ProgrammeLevels {
    var levels = ProgrammeLevels()
    levels.samplePeaks = samplePeaks
    levels.clippedSamples = samples.map(\.clippedSamples)
    for channel in 0..<channelCount {
      let (sum, squares) = (samples[channel].sum, samples[channel].squares)
      levels.truePeaks.append(max(truePeaks[channel], samples[channel].peak))
      levels.meanSquares.append(frameCount > 0 ? squares / frameCount : 0)
      levels.offsets.append(frameCount > 0 ? sum / frameCount : 0)
    }
    levels.integratedLUFS = integratedLUFS
    levels.loudnessRangeLU = levels.integratedLUFS == nil ? nil : shortTermBlocks.range
    levels.momentaryLUFS = Self.loudness(mean(hops: 40))
    levels.shortTermLUFS = Self.loudness(mean(hops: 300))
    levels.maximumMomentaryLUFS = Self.loudness(maximumMomentary)
    levels.maximumShortTermLUFS = Self.loudness(maximumShortTerm)
    return levels
  }

  private static func loudness(_ power: Double) -> Double? {
    power > 0 && power.isFinite ? LoudnessHistogram.loudness(power) : nil
  }
}

/// Levels that a `LoudnessMeter` has measured so far, at one moment.
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

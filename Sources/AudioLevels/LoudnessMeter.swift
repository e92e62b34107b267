import AudioBasics
import CVectors

/// A meter of a programme: loudness and true peak according to ITU-R BS.1770 and EBU R 128, and
/// statistics of its samples.
///
/// It needs constant memory for any duration. One thread at a time, never the audio thread.
///
/// ```swift
/// let meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
/// precondition(meter.integratedLUFS == nil)
/// ```
public struct LoudnessMeter: ~Copyable, Sendable {
  private let channelCount: Int
  private let weighting: KWeighting
  /// False for sample rates and channel counts without a filter in the standard: then only the
  /// samples are measured.
  private let hasLoudness: Bool
  private var pairs: [WeightedPair]
  private let weights: [SIMD2<Double>]
  private var samples: [SampleStatistics]
  /// A buffer for the sums of the frames that are being added.
  private var sums: [ChannelSums]
  private var truePeaks: TruePeaks
  /// The number of frames in the mean squares and DC offsets.
  private var frameCount = 0.0

  /// The number of completed hops of 10 ms. In EBU Tech 3341 (cases 13 and 14) a tone of 400 ms
  /// starts at any time, and the meter must be accurate to 0.1 LU.
  private var hopCount = 0
  private var framesLeft: Int
  private let framesOfTenHops: Int
  /// The weighted powers of the last three seconds, in a ring buffer.
  private var hops = [Double](repeating: 0, count: 300)
  private var blocks = LoudnessHistogram()
  private var shortTermBlocks = LoudnessHistogram()
  private var maximumMomentary = 0.0
  private var maximumShortTerm = 0.0

  /// Creates a meter without measured frames. More than 1024 channels are a fatal error with a
  /// message.
  public init(sampleRate: Int, channelCount: Int) {
    requirement(
      channelCount <= SampleBuffer.maximumChannels, "A meter has at most 1024 channels.")
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

  /// Returns the weight of a channel (BS.1770-5, annex 3, table 4): 1.5 dB more if its loudspeaker
  /// is 60 to 120 degrees to the side, and zero for low-frequency channels. The channels are those
  /// of a WAV file with this number of channels: left, right, centre, low frequencies, back, side.
  /// If there are more than eight, the positions are unknown and all weights are equal.
  private static func weight(ofChannel channel: Int, of count: Int) -> Double {
    guard channel < count else { return 0 }
    return switch (count, channel) {
    // The surround channels of 4.0, 5.0 and 5.1 are at 110 degrees; back channels in addition to
    // side channels are at 135 or 180 degrees.
    case (4, 2...), (5, 3...), (6, 4...), (7, 5...), (8, 6...): 1.41
    case (6...8, 3): 0
    default: 1
    }
  }

  /// Measures `frames` frames of `buffer`, starting at `firstFrame`. If a sample is NaN or
  /// infinite, the frames of this call in the same hop of 10 ms count for the sample peaks and
  /// clipped samples only.
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

  /// Adds frames of one hop. Returns false if a sample is NaN or infinite.
  private mutating func add(
    _ buffer: borrowing SampleBuffer, from first: Int, count: Int
  ) -> Bool {
    let base = UnsafePointer(buffer.base + first * channelCount)
    guard SampleStatistics.add(base, frames: count, to: &samples, &sums) else { return false }
    truePeaks.add(buffer, from: first, frames: count)
    for pair in 0..<pairs.count {
      // If there is no second channel, the first one is used in its place with a weight of zero.
      let second = min(2 * pair + 1, channelCount - 1)
      pairs[pair].add(base + 2 * pair, base + second, stride: channelCount, count: count, weighting)
    }
    frameCount += Double(count)
    return true
  }

  /// Ends a hop of 10 ms.
  private mutating func endHop() {
    var power = 0.0
    for pair in 0..<pairs.count { power += pairs[pair].takePower(weights[pair], weighting) }
    hops[hopCount % hops.count] = power
    hopCount += 1
    // Ten hops are exactly 100 ms, rounded to a frame.
    framesLeft = framesOfTenHops * (hopCount % 10 + 1) / 10 - framesOfTenHops * (hopCount % 10) / 10
    let momentary = mean(hops: 40)
    maximumMomentary = max(maximumMomentary, momentary)
    guard hopCount % 10 == 0 else { return }
    // Blocks of 400 ms, which overlap by three quarters.
    if hopCount >= 40 { blocks.add(momentary) }
    let shortTerm = mean(hops: 300)
    maximumShortTerm = max(maximumShortTerm, shortTerm)
    if hopCount >= 300, hopCount % 100 == 0 { shortTermBlocks.add(shortTerm) }
  }

  /// Returns the mean power of the last `count` hops, a multiple of ten.
  private func mean(hops count: Int) -> Double {
    let end = hopCount % hops.count
    let span = hops.span
    // The hops before the write position of the ring buffer; the rest are at its end.
    let early = min(end, count)
    var sum = 0.0
    for index in end - early..<end { sum += span[index] }
    for index in hops.count - (count - early)..<hops.count { sum += span[index] }
    return sum / Double(framesOfTenHops * count / 10)
  }

  /// The highest magnitude of each channel so far, without interpolation; full scale is 1.
  public var samplePeaks: [Float] { samples.map(\.peak) }

  /// The integrated loudness so far, in LUFS; nil if no block was loud enough to count.
  public var integratedLUFS: Double? { blocks.integrated }

  /// All levels measured so far.
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

/// The levels that a `LoudnessMeter` has measured up to one moment.
public struct ProgrammeLevels: Sendable, Equatable {
  /// The highest magnitude of each channel, without interpolation; full scale is 1.
  public var samplePeaks: [Float] = []
  /// The highest magnitude of each channel, including those between samples; full scale is 1.
  /// According to ITU-R BS.1770 with a factor of four at rates below 96 kHz and of two below 192
  /// kHz; at higher rates the sample peak.
  public var truePeaks: [Float] = []
  /// The mean square of the samples of each channel; its square root is the RMS level.
  public var meanSquares: [Double] = []
  /// The mean of the samples of each channel: its DC offset.
  public var offsets: [Double] = []
  /// The number of samples of each channel at full scale or beyond with a neighbour at full scale.
  ///
  /// A sample is at full scale from 32,767/32,768 on: the highest value of a 16-bit converter. A
  /// single such sample may be a normalised peak; two in a row rarely are. (Audacity's Find
  /// Clipping counts runs of three by default; its manual leaves the number open.)
  public var clippedSamples: [Int] = []
  /// The integrated loudness according to ITU-R BS.1770 and EBU R 128, in LUFS; nil if no block was
  /// loud enough to count.
  public var integratedLUFS: Double?
  /// The loudness range according to EBU Tech 3342, in LU; nil before three seconds, or if no block
  /// was loud enough to count.
  public var loudnessRangeLU: Double?
  /// The loudness of the last 400 ms, in LUFS; nil for silence.
  public var momentaryLUFS: Double?
  /// The loudness of the last three seconds, in LUFS; nil for silence.
  public var shortTermLUFS: Double?
  /// The highest momentary loudness, measured every 10 ms, in LUFS; nil for silence.
  public var maximumMomentaryLUFS: Double?
  /// The highest short-term loudness, measured every 100 ms, in LUFS; nil for silence.
  public var maximumShortTermLUFS: Double?
}

extension ProgrammeLevels {
  /// The highest magnitude of each channel in dBFS, without interpolation; -200 for silence.
  ///
  /// ```swift
  /// let engine = DuplexEngine(input: "sim:clock=free,noise=-20", output: nil)
  /// let recording = try await engine.record(to: "levels.wav")
  /// try await engine.run(seconds: 1)
  /// let levels = recording.state.levels
  /// print(levels.peakDBFS, levels.truePeakDBTP, levels.rmsDBFS)
  /// precondition(levels.rmsDBFS.allSatisfy { abs($0 + 20) < 0.5 })
  /// ```
  public var peakDBFS: [Double] { samplePeaks.map { Decibels.level($0) } }
  /// The highest magnitude of each channel in dBTP, including those between samples; -200 for
  /// silence.
  public var truePeakDBTP: [Double] { truePeaks.map { Decibels.level($0) } }
  /// The root mean square of each channel in dBFS (a full-scale square wave is 0); -200 for
  /// silence.
  public var rmsDBFS: [Double] {
    meanSquares.map { Decibels.level(Float($0.squareRoot())) }
  }

  /// The levels of a meter without channels.
  public static var nothing: ProgrammeLevels { ProgrammeLevels() }
}

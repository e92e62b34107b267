import AudioBasics
import AudioSpectra
import Glibc

/// Reduces late reverberation in one channel, or in both channels of a stereo signal with the same
/// gain, so that the positions between left and right are preserved.
///
/// Linear prediction from the past removes part of the reverberation. The remaining late
/// reverberation, estimated from the decay of the room, is attenuated by up to 12 dB, with one gain
/// for both channels. The output is one block late.
final class Dereverberator {
  /// The fraction of late reverberation that remains to be attenuated. Most of it is predicted.
  private static let leftPart: Float = 0.5
  /// The reverberation times, in seconds, up to which no prediction is applied, and from which on
  /// it is applied fully. In a dry voice, the predictable part is the voice itself.
  private static let (dryDecay, wetDecay) = (0.25, 0.55)

  private let channels: Range<Int>
  private var transform: BlockTransform
  private var states: [BlockTransform.ChannelState]
  private var power: [Float]
  private var prediction: WeightedPredictionError
  private var decay: RoomDecay
  private var late: LateReverberation
  private var suppression: SuppressionGain

  /// Creates a dereverberator for these `channels` of its blocks.
  init(channels: Range<Int>, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let transform = try BlockTransform(blockFrames: blockFrames, sampleRate: sampleRate)
    let binCount = transform.binCount
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    let binHertz = Double(sampleRate) / Double(transform.length)
    self.channels = channels
    states = channels.map { _ in transform.makeChannelState() }
    power = Array(repeating: 0, count: binCount)
    prediction = WeightedPredictionError(
      channelCount: channels.count, blockSeconds: blockSeconds, binHertz: binHertz,
      binCount: binCount)
    decay = RoomDecay(blockSeconds: blockSeconds, binHertz: binHertz, binCount: binCount)
    late = LateReverberation(blockSeconds: blockSeconds, binCount: binCount)
    suppression = SuppressionGain(
      floor: Gain(decibels: -12), isTwoStep: false, blockSeconds: blockSeconds,
      binHertz: binHertz, binCount: binCount
    )
    self.transform = transform
  }

  /// Adds a block of each channel and replaces it by the previous block with less reverberation.
  func run(_ blocks: inout [[Float]]) {
    for (index, channel) in channels.enumerated() {
      transform.analyse(blocks[channel], &states[index])
    }
    measure()
    decay.watch(power)
    let wetness = (decay.seconds - Self.dryDecay) / (Self.wetDecay - Self.dryDecay)
    prediction.run(&states, part: Float(max(0, min(1, wetness))))
    measure()
    late.follow(power, decaySeconds: decay.seconds)
    suppression.update(power: power, unwanted: late.power, part: Self.leftPart)
    for (index, channel) in channels.enumerated() {
      states[index].apply(suppression.gains)
      transform.synthesise(&states[index], &blocks[channel])
    }
  }

  /// Sums the power of each bin over the channels.
  private func measure() {
    for bin in 0..<power.count { power[bin] = BlockTransform.minimumPower }
    for state in states { state.addPower(to: &power) }
  }
}

/// The late reverberation in each bin: the response of a room to the signal at least 25 ms ago.
///
/// The power of reverberation in a room decays by exp(-2 delta t), delta = 3 ln 10 / T60. The late
/// reverberation is the earlier reverberant power after that decay (Lebart, Boucher, Denbigh, "A
/// New Method Based on Spectral Subtraction for Speech Dereverberation", 2001). The direct sound is
/// not reverberant and is excluded by the ratio of direct to reverberant power (Habets, Gannot,
/// Cohen, "Late Reverberant Spectral Variance Estimation Based on a Statistical Model", 2009).
struct LateReverberation {
  /// The time in seconds after which reverberation counts as late.
  private static let lateSeconds = 0.025
  /// The ratio of reverberant to direct power: 1, as for a microphone at a room's critical
  /// distance.
  private static let reverberantRatio = 1.0

  /// The time constant of the smoothing of powers, in seconds to a ratio of 1 / e. Those of single
  /// blocks vary far more than those of a room.
  private static let smoothingSeconds = 0.015

  /// The late power of each bin.
  private(set) var power: [Float]
  private let blockSeconds: Double
  private let lateBlocks: Int
  private let smoothing: Float
  /// The smoothed power of the previous block, and the reverberant part of the present power, of
  /// each bin.
  private var before: [Float]
  private var reverberant: [Float]
  /// The reverberant power of the last `lateBlocks` blocks, in a ring, and the index of the next
  /// block.
  private var history: [Float]
  private var position = 0

  init(blockSeconds: Double, binCount: Int) {
    self.blockSeconds = blockSeconds
    lateBlocks = max(1, Int(rounding: Self.lateSeconds / blockSeconds))
    smoothing = Float(exp(-blockSeconds / Self.smoothingSeconds))
    power = Array(repeating: 0, count: binCount)
    before = power
    reverberant = power
    history = Array(repeating: 0, count: lateBlocks * binCount)
  }

  /// Adds the power of a block's bins, in a room whose power falls by 60 dB in `decaySeconds`.
  mutating func follow(_ total: [Float], decaySeconds: Double) {
    let fall = pow(10, -6 * blockSeconds / decaySeconds)
    let share = min(1, Self.reverberantRatio * (1 - fall) / fall)
    let (kept, added) = (Float(fall * (1 - share)), Float(fall * share))
    let lateFall = Float(pow(fall, Double(lateBlocks - 1)))
    let binCount = power.count
    let newest = position * binCount
    position = (position + 1) % lateBlocks
    let oldest = position * binCount
    for bin in 0..<binCount {
      reverberant[bin] = kept * reverberant[bin] + added * before[bin]
      before[bin] = smoothing * before[bin] + (1 - smoothing) * total[bin]
      history[newest + bin] = reverberant[bin]
      power[bin] = lateFall * history[oldest + bin]
    }
  }
}

/// The reverberation time of a room, estimated from the voice in it.
///
/// A voice in a room cannot decay faster than the room. Of all stretches in which a band's level
/// falls along a straight line, in decibels, the fastest fifth shows the decay of the room: an
/// order statistic, as in Löllmann, Yilmaz, Jeub, Vary, "An Improved Algorithm for Blind
/// Reverberation Time Estimation" (IWAENC 2010). Without a room it shows the decay of the voice,
/// which is short enough to leave speech unaffected.
struct RoomDecay {
  /// The reverberation time (60 dB) in seconds, initially that of a furnished room.
  private(set) var seconds = 0.3

  /// The edges in hertz of the octaves with the energy of voices and rooms.
  private static let edges: [Double] = [250, 500, 1000, 2000, 4000]
  /// The length of a stretch, in seconds: longer than most sounds of speech.
  private static let stretchSeconds = 0.2
  /// The largest RMS deviation from a straight line, in decibels.
  private static let straightness: Float = 2
  /// The least slope of a decay, in decibels per second: a decay of less than two seconds.
  private static let minimumFall: Float = -30
  /// The limits of the reverberation time in seconds. In larger rooms, a microphone is no longer
  /// near.
  private static let bounds = 0.1...1.2
  /// The fraction of decays that are faster than the room's.
  private static let fasterPart = 0.2
  /// The change by one decay, as the natural logarithm of a ratio.
  private static let step = 0.05

  private let bands: [Range<Int>]
  /// The seconds from a stretch's middle, one per block, and the sum of their squares.
  private let times: [Float]
  private let timesSquared: Float
  /// The last stretch of each band, in decibels.
  private var levels: [[Float]]

  init(blockSeconds: Double, binHertz: Double, binCount: Int) {
    bands = zip(Self.edges, Self.edges.dropFirst()).map { lower, upper in
      let end = min(binCount, Int(clamping: (upper / binHertz).rounded(.up)))
      return min(end, Int(clamping: (lower / binHertz).rounded(.up)))..<end
    }
    let count = max(4, Int(rounding: Self.stretchSeconds / blockSeconds))
    times = (0..<count).map { Float((Double($0) - Double(count - 1) / 2) * blockSeconds) }
    timesSquared = times.reduce(0) { $0 + $1 * $1 }
    let silence = [Float](repeating: -120, count: count)
    levels = Array(repeating: silence, count: bands.count)
  }

  /// Adds the power of a block's bins, none of which may be zero.
  mutating func watch(_ power: [Float]) {
    for (band, bins) in bands.enumerated() {
      var sum: Float = 0
      for bin in bins { sum += power[bin] }
      levels[band].removeFirst()
      levels[band].append(10 * log10(sum))
      if let fall = fall(levels[band]) { learn(-60 / Double(fall)) }
    }
  }

  /// Returns the slope in decibels per second of levels that fall along a straight line, or nil if
  /// they do not.
  private func fall(_ levels: [Float]) -> Float? {
    var mean: Float = 0
    var slope: Float = 0
    for index in 0..<times.count {
      mean += levels[index]
      slope += levels[index] * times[index]
    }
    mean /= Float(times.count)
    slope /= timesSquared
    guard slope < Self.minimumFall else { return nil }
    var error: Float = 0
    for index in 0..<times.count {
      let distance = levels[index] - mean - slope * times[index]
      error += distance * distance
    }
    return error < Self.straightness * Self.straightness * Float(times.count) ? slope : nil
  }

  /// Moves the estimate towards a decay. The steps up and down balance if `fasterPart` of all
  /// decays are faster, so the estimate converges to that quantile.
  private mutating func learn(_ decay: Double) {
    let direction = decay > seconds ? Self.fasterPart : Self.fasterPart - 1
    seconds = max(
      Self.bounds.lowerBound, min(Self.bounds.upperBound, seconds * exp(Self.step * direction)))
  }
}

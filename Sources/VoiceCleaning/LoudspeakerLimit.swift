import AudioBasics
import AudioSpectra
import Glibc

/// The spectra of what is played, as loudspeakers would play it that clip at one of several limits:
/// some bins of the last ones, from which those of an echo can be predicted.
struct ClippedSpectra: ~Copyable {
  /// The limits, as factors of full scale: the first clips nothing.
  static let limits: [Float] = (0..<9).map { Gain(decibels: -3 * Double($0)).factor }
  /// Where the bins lie, in hertz: voices, and what clipping adds to them, are loud there.
  private static let (lowest, highest) = (300.0, 3500.0)
  /// How many groups of eight bins there are.
  static let groupCount = 3
  /// How much of an echo is predicted, in seconds: enough of it to tell limits apart.
  private static let reachSeconds = 0.11

  /// Blocks that are kept.
  private let slotCount: Int
  private let speakerCount: Int
  private let bins: [Int]
  private var transform: BlockTransform
  /// A lane for each limit and loudspeaker.
  private var lanes: [BlockTransform.Lane]
  private var block: [Float]
  /// The bins of the last blocks of each limit and loudspeaker, in a ring, and the newest's place.
  private var history: [ComplexLanes]
  private var newest = 0

  init(speakerCount: Int, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let transform = try BlockTransform(blockFrames: blockFrames, sampleRate: sampleRate)
    let binHertz = Double(sampleRate) / Double(transform.length)
    let count = Self.groupCount * ComplexLanes.count
    bins = (0..<count).map {
      let hertz = Self.lowest + (Self.highest - Self.lowest) * Double($0) / Double(count)
      return Int(rounding: hertz / binHertz)
    }
    slotCount = Int(rounding: Self.reachSeconds * Double(sampleRate) / Double(blockFrames))
    self.speakerCount = speakerCount
    lanes = (0..<Self.limits.count * speakerCount).map { _ in transform.makeLane() }
    block = Array(repeating: 0, count: blockFrames)
    history = Array(
      repeating: ComplexLanes(), count: lanes.count * slotCount * Self.groupCount)
    self.transform = transform
  }

  /// How many spectra an echo is predicted from.
  var order: Int { slotCount * speakerCount }

  /// Takes in a block that was played.
  mutating func follow(_ played: borrowing SampleBuffer) {
    newest = (newest + 1) % slotCount
    for lane in lanes.indices {
      let limit = Self.limits[lane / speakerCount]
      for frame in 0..<block.count {
        block[frame] = Self.clipped(
          played.base[frame * speakerCount + lane % speakerCount], at: limit)
      }
      transform.analyse(block, &lanes[lane])
      for group in 0..<Self.groupCount {
        history[place(lane, newest, group)] = pick(lanes[lane].spectrum, group)
      }
    }
  }

  /// A sample as a loudspeaker plays it that clips at `limit`; 0 where it is no number.
  static func clipped(_ sample: Float, at limit: Float) -> Float {
    sample.isFinite ? max(-limit, min(limit, sample)) : 0
  }

  /// The bins of a spectrum that belong to a group.
  func pick(_ spectrum: [ComplexFloat], _ group: Int) -> ComplexLanes {
    var numbers = ComplexLanes()
    for lane in 0..<ComplexLanes.count {
      let bin = spectrum[bins[group * ComplexLanes.count + lane]]
      numbers.real[lane] = bin.real
      numbers.imaginary[lane] = bin.imaginary
    }
    return numbers
  }

  /// Puts what is played at one of the limits, the newest first, into `past`.
  func read(limit: Int, group: Int, into past: inout [ComplexLanes]) {
    for speaker in 0..<speakerCount {
      for age in 0..<slotCount {
        past[speaker * slotCount + age] =
          history[
            place(limit * speakerCount + speaker, (newest + slotCount - age) % slotCount, group)]
      }
    }
  }

  private func place(_ lane: Int, _ slot: Int, _ group: Int) -> Int {
    (lane * slotCount + slot) * Self.groupCount + group
  }
}

/// The level at which a loudspeaker clips, estimated from what one microphone captures.
///
/// An adaptive filter cannot follow what clipping does: it is not linear. But before the room comes
/// the loudspeaker (a Hammerstein model): if what is played is clipped as the loudspeaker does, the
/// rest is linear again. Of several limits, that is taken at which some bins of what is captured
/// are predicted best from what is played, by recursive least squares; a loudspeaker that saturates
/// softly is near one of them, too. Errors are compared in decibels, so that a voice at the same
/// time, which adds as much to each, does not outweigh the rest.
struct LoudspeakerLimit: ~Copyable {
  /// How long errors are averaged, in seconds to a ratio of 1 / e.
  private static let averageSeconds = 3.0
  /// By how much another limit must be better, in decibels, to be taken.
  private static let margin: Float = 0.5

  private var transform: BlockTransform
  private var lane: BlockTransform.Lane
  /// Of each limit, one a group.
  private var predictions: [PredictedBins]
  /// The mean error of each limit, in decibels of what is captured.
  private var errors: [Float]
  private var past: [ComplexLanes]
  private var present = [ComplexLanes()]
  private let step: Float
  private var best = 0

  /// Predicts what is captured from `order` spectra.
  init(order: Int, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let transform = try BlockTransform(blockFrames: blockFrames, sampleRate: sampleRate)
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    lane = transform.makeLane()
    let group = PredictedBins(channelCount: 1, tapCount: order, blockSeconds: blockSeconds)
    predictions = Array(
      repeating: group, count: ClippedSpectra.limits.count * ClippedSpectra.groupCount)
    errors = Array(repeating: 0, count: ClippedSpectra.limits.count)
    past = Array(repeating: ComplexLanes(), count: order)
    step = Float(1 - exp(-blockSeconds / Self.averageSeconds))
    self.transform = transform
  }

  /// The factor of full scale at which the loudspeaker clips.
  var factor: Float { ClippedSpectra.limits[best] }

  /// Takes in a block that was captured while the newest of `played` was played.
  mutating func follow(_ captured: [Float], _ played: borrowing ClippedSpectra) {
    transform.analyse(captured, &lane)
    for limit in errors.indices {
      errors[limit] += step * (error(limit, played) - errors[limit])
    }
    let least = errors.indices.min { errors[$0] < errors[$1] } ?? 0
    if errors[least] < errors[best] - Self.margin { best = least }
  }

  /// How far what was captured is from what is predicted at a limit, in decibels, as a mean of all
  /// bins.
  private mutating func error(_ limit: Int, _ played: borrowing ClippedSpectra) -> Float {
    var sum: Float = 0
    for group in 0..<ClippedSpectra.groupCount {
      let captured = played.pick(lane.spectrum, group)
      present[0] = captured
      played.read(limit: limit, group: group, into: &past)
      predictions[limit * ClippedSpectra.groupCount + group].run(&present, past: past)
      let (before, after) = (captured.power, present[0].power)
      for bin in 0..<ComplexLanes.count {
        sum += log10(
          (after[bin] + BlockTransform.leastPower) / (before[bin] + BlockTransform.leastPower))
      }
    }
    return 10 * sum / Float(ClippedSpectra.groupCount * ComplexLanes.count)
  }
}

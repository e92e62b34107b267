import AudioBasics
import AudioSpectra
import Glibc

/// The spectra of the played signal after clipping at each of several limits. Some bins of the last
/// spectra are kept, from which those of an echo are predicted.
struct ClippedSpectra: ~Copyable {
  /// The limits, as factors of full scale. The first clips nothing.
  static let limits: [Float] = (0..<9).map { Gain(decibels: -3 * Double($0)).factor }
  /// The range of the bins, in hertz, in which voices and their clipping distortion are loud.
  private static let (lowest, highest) = (300.0, 3500.0)
  /// The number of groups of eight bins.
  static let groupCount = 3
  /// The length of the predicted part of an echo, in seconds: long enough to distinguish limits.
  private static let reachSeconds = 0.11

  /// The number of blocks that are kept.
  private let slotCount: Int
  private let speakerCount: Int
  private let bins: [Int]
  private var transform: BlockTransform
  /// A state for each limit and loudspeaker.
  private var states: [BlockTransform.ChannelState]
  private var block: [Float]
  /// The bins of the last blocks of each limit and loudspeaker, in a ring, and the index of the
  /// newest.
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
    states = (0..<Self.limits.count * speakerCount).map { _ in transform.makeChannelState() }
    block = Array(repeating: 0, count: blockFrames)
    history = Array(
      repeating: ComplexLanes(), count: states.count * slotCount * Self.groupCount)
    self.transform = transform
  }

  /// The number of spectra from which an echo is predicted.
  var order: Int { slotCount * speakerCount }

  /// Adds a played block.
  mutating func follow(_ played: borrowing SampleBuffer) {
    newest = (newest + 1) % slotCount
    for index in states.indices {
      let limit = Self.limits[index / speakerCount]
      for frame in 0..<block.count {
        block[frame] = Self.clipped(
          played.base[frame * speakerCount + index % speakerCount], at: limit)
      }
      transform.analyse(block, &states[index])
      for group in 0..<Self.groupCount {
        history[place(index, newest, group)] = pick(states[index].spectrum, group)
      }
    }
  }

  /// Returns a sample after clipping at `limit`, or 0 if it is not a number (NaN) or infinite.
  static func clipped(_ sample: Float, at limit: Float) -> Float {
    sample.isFinite ? max(-limit, min(limit, sample)) : 0
  }

  /// Returns the bins of a spectrum that belong to a group.
  func pick(_ spectrum: [ComplexFloat], _ group: Int) -> ComplexLanes {
    var numbers = ComplexLanes()
    for lane in 0..<ComplexLanes.count {
      let bin = spectrum[bins[group * ComplexLanes.count + lane]]
      numbers.real[lane] = bin.real
      numbers.imaginary[lane] = bin.imaginary
    }
    return numbers
  }

  /// Stores the bins of the signal clipped at one of the limits in `past`, the newest first.
  func read(limit: Int, group: Int, into past: inout [ComplexLanes]) {
    for speaker in 0..<speakerCount {
      for age in 0..<slotCount {
        past[speaker * slotCount + age] =
          history[
            place(limit * speakerCount + speaker, (newest + slotCount - age) % slotCount, group)]
      }
    }
  }

  private func place(_ index: Int, _ slot: Int, _ group: Int) -> Int {
    (index * slotCount + slot) * Self.groupCount + group
  }
}

/// The level at which a loudspeaker clips, estimated from the signal of one microphone.
///
/// An adaptive filter cannot model clipping, which is not linear. But the loudspeaker precedes the
/// room (a Hammerstein model): if the played signal is clipped as in the loudspeaker, the rest is
/// linear again. Of several limits, the one is selected at which recursive least squares predict
/// some bins of the captured signal from the played signal best. A loudspeaker that saturates
/// softly is close to one of them, too. Errors are compared in decibels, so that a simultaneous
/// voice, which adds the same amount to each, does not outweigh the rest.
struct LoudspeakerLimit: ~Copyable {
  /// The averaging time of errors, in seconds to a ratio of 1 / e.
  private static let averageSeconds = 3.0
  /// The least improvement, in decibels, for a change to another limit.
  private static let margin: Float = 0.5

  private var transform: BlockTransform
  private var state: BlockTransform.ChannelState
  /// The predictions of each limit, one per group.
  private var predictions: [PredictedBins]
  /// The mean error of each limit, in decibels relative to the captured signal.
  private var errors: [Float]
  private var past: [ComplexLanes]
  private var present = [ComplexLanes()]
  private let step: Float
  private var best = 0

  /// Creates an estimator that predicts the captured signal from `order` spectra.
  init(order: Int, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let transform = try BlockTransform(blockFrames: blockFrames, sampleRate: sampleRate)
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    state = transform.makeChannelState()
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

  /// Adds a block that was captured while the newest of `played` was played.
  mutating func follow(_ captured: [Float], _ played: borrowing ClippedSpectra) {
    transform.analyse(captured, &state)
    for limit in errors.indices {
      errors[limit] += step * (error(limit, played) - errors[limit])
    }
    let minimum = errors.indices.min { errors[$0] < errors[$1] } ?? 0
    if errors[minimum] < errors[best] - Self.margin { best = minimum }
  }

  /// Returns the prediction error at a limit, relative to the captured signal, in decibels, as the
  /// mean over all bins.
  private mutating func error(_ limit: Int, _ played: borrowing ClippedSpectra) -> Float {
    var sum: Float = 0
    for group in 0..<ClippedSpectra.groupCount {
      let captured = played.pick(state.spectrum, group)
      present[0] = captured
      played.read(limit: limit, group: group, into: &past)
      predictions[limit * ClippedSpectra.groupCount + group].run(&present, past: past)
      let (before, after) = (captured.power, present[0].power)
      for bin in 0..<ComplexLanes.count {
        sum += log10(
          (after[bin] + BlockTransform.minimumPower) / (before[bin] + BlockTransform.minimumPower))
      }
    }
    return 10 * sum / Float(ClippedSpectra.groupCount * ComplexLanes.count)
  }
}

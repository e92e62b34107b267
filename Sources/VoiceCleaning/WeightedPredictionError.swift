import AudioBasics
import AudioSpectra

/// Removes from the spectra of one or two channels the part that is predictable from earlier
/// spectra: a room's late reverberation.
///
/// Weighted prediction error: each bin is predicted from its own past, without the newest blocks,
/// which contain the speech itself, so that the error is smallest relative to the power of speech
/// at the time (Nakatani, Yoshioka, Kinoshita, Miyoshi, Juang, "Speech Dereverberation Based on
/// Variance-Normalized Delayed Linear Prediction", 2010). The coefficients are estimated by
/// recursive least squares (Yoshioka, Tachibana, Nakatani, Miyoshi, "Adaptive Dereverberation of
/// Speech Signals with Speaker-Position Change Detection", ICASSP 2009). Two channels are predicted
/// from both channels, so a rotation of the stereo image is preserved.
struct WeightedPredictionError {
  /// The frequency in hertz above which there is little speech and no prediction.
  private static let highestHertz = 8000.0
  /// The length of the past, in seconds. It is half as long for two channels, with as many
  /// coefficients.
  private static let reachSeconds = 0.25
  /// The age of the newest block used for the prediction, in seconds. Newer blocks contain the same
  /// sounds of speech, and early reflections.
  private static let delaySeconds = 0.03

  private let channelCount: Int
  private let tapCount: Int
  /// The number of blocks from the newest one used to the present, and the number of blocks that
  /// are kept.
  private let (delayBlocks, slotCount): (Int, Int)
  private let binCount: Int
  private var groups: [PredictedBins]
  /// The last spectra of each group and channel, in a ring, and the index of the newest.
  private var history: [ComplexLanes]
  private var newest = 0
  private var past: [ComplexLanes]
  private var present: [ComplexLanes]

  /// Creates a predictor for spectra of `binCount` bins, `binHertz` apart.
  init(channelCount: Int, blockSeconds: Double, binHertz: Double, binCount: Int) {
    let taps = Int(rounding: Self.reachSeconds / blockSeconds / Double(channelCount))
    self.channelCount = channelCount
    tapCount = taps
    delayBlocks = Int(rounding: Self.delaySeconds / blockSeconds)
    slotCount = taps + delayBlocks
    self.binCount = min(binCount, Int(clamping: Self.highestHertz / binHertz) + 1)
    let group = PredictedBins(
      channelCount: channelCount, tapCount: taps, blockSeconds: blockSeconds)
    groups = Array(
      repeating: group,
      count: (self.binCount + ComplexLanes.count - 1) / ComplexLanes.count)
    history = Array(
      repeating: ComplexLanes(), count: slotCount * channelCount * groups.count)
    past = Array(repeating: ComplexLanes(), count: channelCount * taps)
    present = Array(repeating: ComplexLanes(), count: channelCount)
  }

  /// Subtracts the fraction `part` of the prediction, at most 1, from each channel's
  /// spectrum.
  mutating func run(_ states: inout [BlockTransform.ChannelState], part: Float) {
    newest = (newest + 1) % slotCount
    for group in groups.indices {
      let first = group * ComplexLanes.count
      let bins = first..<min(first + ComplexLanes.count, binCount)
      for channel in 0..<channelCount {
        present[channel] = ComplexLanes(states[channel].spectrum, bins)
        for tap in 0..<tapCount {
          let slot = (newest + slotCount - delayBlocks - tap) % slotCount
          past[channel * tapCount + tap] = history[offset(slot, channel, group)]
        }
        history[offset(newest, channel, group)] = present[channel]
      }
      groups[group].run(&present, past: past)
      for channel in 0..<channelCount {
        let whole = history[offset(newest, channel, group)]
        present[channel].real = whole.real + (present[channel].real - whole.real) * part
        present[channel].imaginary =
          whole.imaginary + (present[channel].imaginary - whole.imaginary) * part
        present[channel].put(&states[channel].spectrum, bins)
      }
    }
  }

  private func offset(_ slot: Int, _ channel: Int, _ group: Int) -> Int {
    (group * channelCount + channel) * slotCount + slot
  }
}

/// One complex number for each of eight bins.
struct ComplexLanes: BitwiseCopyable {
  static let count = SIMD8<Float>.scalarCount

  var real = SIMD8<Float>()
  var imaginary = SIMD8<Float>()

  var power: SIMD8<Float> { real * real + imaginary * imaginary }
}

extension ComplexLanes {
  /// Creates numbers from `bins`, at most eight, padded with zeros.
  fileprivate init(_ spectrum: [ComplexFloat], _ bins: Range<Int>) {
    for (lane, bin) in bins.enumerated() {
      real[lane] = spectrum[bin].real
      imaginary[lane] = spectrum[bin].imaginary
    }
  }

  fileprivate func put(_ spectrum: inout [ComplexFloat], _ bins: Range<Int>) {
    for (lane, bin) in bins.enumerated() {
      spectrum[bin] = ComplexFloat(real[lane], imaginary[lane])
    }
  }

  /// Adds a product.
  @inline(__always)
  fileprivate mutating func add(_ left: ComplexLanes, _ right: ComplexLanes) {
    real += left.real * right.real - left.imaginary * right.imaginary
    imaginary += left.real * right.imaginary + left.imaginary * right.real
  }

  /// Adds the product of the conjugate of `left` and of `right`.
  @inline(__always)
  fileprivate mutating func add(conjugate left: ComplexLanes, _ right: ComplexLanes) {
    real += left.real * right.real + left.imaginary * right.imaginary
    imaginary += left.real * right.imaginary - left.imaginary * right.real
  }

  @inline(__always)
  fileprivate static func * (left: ComplexLanes, factor: SIMD8<Float>) -> ComplexLanes {
    ComplexLanes(real: left.real * factor, imaginary: left.imaginary * factor)
  }
}

/// Eight bins, predicted by recursive least squares.
struct PredictedBins {
  /// The memory of the statistics, in seconds to a ratio of 1 / e.
  private static let memorySeconds = 10.0
  /// The least assumed power of speech, relative to the highest recent power. It limits the weight
  /// of a block.
  private static let minimumRatio: Float = 0.004
  /// The decay of the highest power, in seconds to a ratio of 1 / e.
  private static let highestSeconds = 5.0
  /// The fraction by which the power of speech follows a block.
  private static let powerStep: Float = 0.5
  /// The initial inverse covariance.
  private static let firstCovariance: Float = 0.1
  /// The number of blocks after which the coefficients of the next tap are pulled slightly to zero,
  /// as by a block of white noise in that tap alone (ridge regression). This keeps the inverse
  /// covariance bounded if channels are alike or the input is silent.
  private static let ridgeBlocks = 4

  private let channelCount: Int
  private let tapCount: Int
  private let memory: Float
  private let highestMemory: Float
  /// The upper triangle of the inverse covariance, row by row.
  private var covariance: [ComplexLanes]
  /// The coefficients of each channel.
  private var coefficients: [ComplexLanes]
  private var power = SIMD8<Float>()
  private var highest = SIMD8<Float>()
  private var block = 0
  /// The product of the inverse covariance and the past.
  private var gain: [ComplexLanes]

  init(channelCount: Int, tapCount: Int, blockSeconds: Double) {
    let order = channelCount * tapCount
    self.channelCount = channelCount
    self.tapCount = tapCount
    memory = Float(1 - blockSeconds / Self.memorySeconds)
    highestMemory = Float(1 - blockSeconds / Self.highestSeconds)
    covariance = Array(repeating: ComplexLanes(), count: order * (order + 1) / 2)
    coefficients = Array(repeating: ComplexLanes(), count: order * channelCount)
    gain = Array(repeating: ComplexLanes(), count: order)
    reset(SIMD8<Float>(repeating: 0) .== 0)
  }

  /// Subtracts the prediction from the `past` from each channel's `present`, and adapts to the
  /// residual.
  mutating func run(_ present: inout [ComplexLanes], past: [ComplexLanes]) {
    let order = gain.count
    var whole = SIMD8<Float>()
    var left = SIMD8<Float>()
    for channel in 0..<channelCount {
      whole += present[channel].power
      var sum = ComplexLanes()
      for index in 0..<order { sum.add(coefficients[channel * order + index], past[index]) }
      present[channel].real -= sum.real
      present[channel].imaginary -= sum.imaginary
      left += present[channel].power
    }
    // A prediction that adds power is wrong, because speech cannot exceed the total power.
    let speech = pointwiseMin(whole, left)
    power += (speech - power) * Self.powerStep
    highest = pointwiseMax(highest * highestMemory, whole)
    let weight = pointwiseMax(power, highest * Self.minimumRatio) + BlockTransform.minimumPower
    let spread = multiply(past)
    update(1 / (weight * memory + spread), present)
    regularizeNextTap()
    let isBroken = .!(spread .>= 0)
    if any(isBroken) { reset(isBroken) }
  }

  /// Resets the state in the lanes of a mask.
  private mutating func reset(_ lanes: SIMDMask<SIMD8<Int32>>) {
    let order = gain.count
    for index in coefficients.indices { replace(&coefficients[index], 0, lanes) }
    var entry = 0
    for row in 0..<order {
      for column in row..<order {
        replace(&covariance[entry], row == column ? Self.firstCovariance : 0, lanes)
        entry += 1
      }
    }
    power.replace(with: 0, where: lanes)
    highest.replace(with: 0, where: lanes)
  }

  private func replace(
    _ numbers: inout ComplexLanes, _ value: Float, _ lanes: SIMDMask<SIMD8<Int32>>
  ) {
    numbers.real.replace(with: value, where: lanes)
    numbers.imaginary.replace(with: 0, where: lanes)
  }

  /// Stores the product of the inverse covariance and the past in `gain`. Returns the inner product
  /// of the past and `gain`.
  private mutating func multiply(_ past: [ComplexLanes]) -> SIMD8<Float> {
    let order = gain.count
    for index in 0..<order { gain[index] = ComplexLanes() }
    var spread = SIMD8<Float>()
    var entry = 0
    for row in 0..<order {
      let own = past[row]
      var sum = gain[row]
      sum.add(covariance[entry], own)
      entry += 1
      for column in row + 1..<order {
        sum.add(covariance[entry], past[column])
        gain[column].add(conjugate: covariance[entry], own)
        entry += 1
      }
      gain[row] = sum
    }
    for row in 0..<order {
      spread +=
        past[row].real * gain[row].real + past[row].imaginary * gain[row].imaginary
    }
    return spread
  }

  /// Moves the coefficients along `gain` in proportion to the errors, and updates the inverse
  /// covariance with the past.
  private mutating func update(_ step: SIMD8<Float>, _ errors: [ComplexLanes]) {
    let order = gain.count
    for channel in 0..<channelCount {
      let error = errors[channel] * step
      for index in 0..<order {
        coefficients[channel * order + index].add(conjugate: gain[index], error)
      }
    }
    downdate(step, growth: 1 / memory)
  }

  /// Rank-one downdate: scales the inverse covariance by `growth` and subtracts the outer product
  /// of `gain` with itself, times `step` and `growth`.
  private mutating func downdate(_ step: SIMD8<Float>, growth: Float) {
    let order = gain.count
    var entry = 0
    for row in 0..<order {
      let own = gain[row] * (step * -growth)
      for column in row..<order {
        var sum = covariance[entry] * SIMD8(repeating: growth)
        sum.add(conjugate: gain[column], own)
        covariance[entry] = sum
        entry += 1
      }
    }
  }

  /// Ridge regularization: reduces the coefficients of the next tap, in all channels.
  private mutating func regularizeNextTap() {
    block = (block + 1) % (tapCount * Self.ridgeBlocks)
    guard block % Self.ridgeBlocks == 0 else { return }
    let order = gain.count
    for row in stride(from: block / Self.ridgeBlocks, to: order, by: tapCount) {
      for column in 0..<order {
        let entry = offset(min(row, column), max(row, column))
        gain[column] = covariance[entry]
        if column > row { gain[column].imaginary = -gain[column].imaginary }
      }
      let step = 1 / (1 + gain[row].real)
      for channel in 0..<channelCount {
        let error = coefficients[channel * order + row] * -step
        for index in 0..<order {
          coefficients[channel * order + index].add(conjugate: gain[index], error)
        }
      }
      downdate(step, growth: 1)
    }
  }

  /// Returns the index of a row and a column of the inverse covariance, with `column` at least
  /// `row`.
  private func offset(_ row: Int, _ column: Int) -> Int {
    row * gain.count - row * (row - 1) / 2 + column - row
  }
}

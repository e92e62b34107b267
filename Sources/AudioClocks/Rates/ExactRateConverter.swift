// Audio thread.

import AudioBasics

/// Converts at a fixed ratio whose terms are small enough for a `PolyphaseBank`. An output frame is
/// one inner product per channel, and its position is counted in integers.
///
/// The first output frame is `delayFrames` input frames before the first input frame, unless
/// silence is skipped. The kernel then covers only silence, except for that input frame.
struct ExactRateConverter: ~Copyable, Sendable {
  /// The largest number of input frames appended at once.
  private static let chunkFrames = 256

  private let channelCount: Int
  private let bank: PolyphaseBank
  private var past: RecentFrames
  /// The row of the next output frame, and the input frame at or before its position.
  private var row = 0
  private var frame: Int
  /// The distance of the position after that frame, as a multiple of 1 / `bank.outputStep`.
  private var phase = 0
  /// The step of one output frame: whole input frames, and multiples of 1 / `bank.outputStep`.
  private let wholeStep: Int
  private let phaseStep: Int

  /// Returns a converter, or nil if the bank would be too large. Not on the audio thread: computes
  /// the kernel.
  static func make(
    channelCount: Int, inputRate: Int, outputRate: Int, quality: Int
  ) -> ExactRateConverter? {
    guard
      let bank = PolyphaseBank.make(
        quality: quality, inputRate: inputRate, outputRate: outputRate)
    else { return nil }
    return ExactRateConverter(channelCount, bank)
  }

  private init(_ channelCount: Int, _ bank: consuming PolyphaseBank) {
    self.channelCount = channelCount
    frame = -bank.halfWidth
    wholeStep = bank.inputStep / bank.outputStep
    phaseStep = bank.inputStep % bank.outputStep
    past = RecentFrames(
      frames: 2 * bank.halfWidth + Self.chunkFrames, channelCount: channelCount)
    self.bank = bank
  }

  /// The delay in input frames if silence is not skipped.
  var delayFrames: Int {
    @_noLocks get { bank.halfWidth }
  }

  /// Restarts `delayFrames` before the first input frame or, if silence is skipped, at the first
  /// input frame.
  @_noLocks
  mutating func reset(skipsSilence: Bool) {
    past.clear()
    row = 0
    phase = 0
    frame = skipsSilence ? 0 : -bank.halfWidth
  }

  /// Converts up to `frames` frames, or silence if `source` is nil, into up to `room` frames.
  @_noLocks
  mutating func convert(
    _ source: UnsafePointer<Float>?, _ frames: Int, into target: UnsafeMutablePointer<Float>,
    _ room: Int
  ) -> (consumed: Int, produced: Int) {
    guard room > 0 else { return (0, 0) }
    // Consume no more input than this room requires, except for the look-back of the next output
    // frame.
    let lastFrame = position(after: room &- 1)
    let nextFrame = position(after: room)
    let enough = max(nextFrame, lastFrame &+ 1) &+ bank.halfWidth
    var consumed = 0
    var produced = 0
    while true {
      while produced < room && past.count > frame &+ bank.halfWidth {
        past.sum(
          bank.weights(ofRow: row), from: frame &- bank.halfWidth &+ 1, count: 2 &* bank.halfWidth,
          into: target + produced &* channelCount)
        produced &+= 1
        advance()
      }
      let taken = min(Self.chunkFrames, min(frames &- consumed, enough &- past.count))
      guard taken > 0 else { return (consumed, produced) }
      past.append(source, from: consumed, frames: taken)
      consumed &+= taken
    }
  }

  /// Returns the input frame at or before the position `count` output frames later.
  @_noLocks
  private func position(after count: Int) -> Int {
    frame &+ (phase &+ count &* bank.inputStep) / bank.outputStep
  }

  /// Advances to the next output frame.
  @_noLocks
  private mutating func advance() {
    row &+= 1
    if row == bank.outputStep { row = 0 }
    frame &+= wholeStep
    phase &+= phaseStep
    if phase >= bank.outputStep {
      phase &-= bank.outputStep
      frame &+= 1
    }
  }
}

/// The weights for every position between two input frames at which a fixed ratio has an output
/// frame, each computed exactly.
///
/// In lowest terms, a ratio is a number of input frames per number of output frames, and after that
/// number of output frames the positions repeat. The rows are in the order of the output frames, so
/// memory is read sequentially.
struct PolyphaseBank: ~Copyable, Sendable {
  /// The largest number of rows and of bytes. A larger bank would not be worth its memory.
  private static let maximumRows = 1280
  private static let maximumBytes = 1 << 20

  /// The number of output frames after which the positions repeat. It is the number of rows.
  let outputStep: Int
  /// The number of input frames in the same time.
  let inputStep: Int
  /// The number of input frames on each side that the kernel covers.
  let halfWidth: Int
  private let rows: SampleBuffer

  /// Returns the bank for two rates in Hz, or nil if it would be too large. Not on the audio
  /// thread: computes the kernel.
  static func make(quality: Int, inputRate: Int, outputRate: Int) -> PolyphaseBank? {
    let ratio = RateRatio(inputRate: inputRate, outputRate: outputRate)
    let (inputStep, outputStep) = (ratio.inputStep, ratio.outputStep)
    let kernel = FixedRateKernel(quality: quality, inputStep: inputStep, outputStep: outputStep)
    let bytes = outputStep * 2 * kernel.halfWidth * MemoryLayout<Float>.size
    guard outputStep <= maximumRows && bytes <= maximumBytes else { return nil }
    return PolyphaseBank(kernel, inputStep, outputStep)
  }

  private init(_ kernel: FixedRateKernel, _ inputStep: Int, _ outputStep: Int) {
    let halfWidth = kernel.halfWidth
    let width = 2 * halfWidth
    // All positions that a row evaluates are multiples of the distance between rows, and the kernel
    // is even. The last point, which a row could reach on one side only, has weight zero.
    let end = halfWidth * outputStep
    let curve = (0...end).map {
      $0 == end ? 0 : kernel.value(at: Double($0) / Double(outputStep))
    }
    var rows = SampleBuffer(
      frameCount: outputStep, channelCount: WeightRow.sampleCount(weights: width))
    for row in 0..<outputStep {
      let phase = row * inputStep % outputStep
      let weights = (0..<width).map { curve[abs(($0 - halfWidth + 1) * outputStep - phase)] }
      WeightRow.store(weights, in: &rows, row: row)
    }
    self.inputStep = inputStep
    self.outputStep = outputStep
    self.halfWidth = halfWidth
    self.rows = rows
  }

  /// Returns the weights of output frame `row` of a cycle as a `WeightRow`. They apply to the
  /// frames from `halfWidth` - 1 before the frame at or before its position to `halfWidth` after
  /// that frame.
  @_noLocks
  func weights(ofRow row: Int) -> UnsafePointer<Float> {
    UnsafePointer(rows.base + row &* WeightRow.sampleCount(weights: 2 &* halfWidth))
  }
}

// Audio thread.

import AudioBasics

/// Converts at a fixed ratio whose terms are small enough for a `PolyphaseBank`: an output frame is
/// one inner product for each channel, and its place is counted in whole numbers.
///
/// The first output frame lies `delayFrames` input frames before the first that is given, unless
/// silence is skipped: all that the kernel looks at is then silence, but for that frame.
struct ExactRateConverter: ~Copyable, Sendable {
  /// Input frames that are taken at once.
  private static let chunkFrames = 256

  private let channelCount: Int
  private let bank: PolyphaseBank
  private var past: RecentFrames
  /// The row of the next output frame, and the input frame at or before its place.
  private var row = 0
  private var frame: Int
  /// How far the place lies behind that frame, in parts of `bank.outputStep`.
  private var phase = 0
  /// What an output frame advances by: whole input frames, and parts.
  private let wholeStep: Int
  private let phaseStep: Int

  /// nil where the bank would be too large. Not on the audio thread: computes the kernel.
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

  /// Input frames by which all that passes is late while silence is not skipped.
  var delayFrames: Int {
    @_noLocks get { bank.halfWidth }
  }

  /// Begins anew: `delayFrames` before the first input frame, or, skipping silence, with it.
  @_noLocks
  mutating func reset(skipsSilence: Bool) {
    past.clear()
    row = 0
    phase = 0
    frame = skipsSilence ? 0 : -bank.halfWidth
  }

  /// Converts up to `frames` frames, silence where there is no `source`, into up to `room` frames.
  @_noLocks
  mutating func convert(
    _ source: UnsafePointer<Float>?, _ frames: Int, into target: UnsafeMutablePointer<Float>,
    _ room: Int
  ) -> (consumed: Int, produced: Int) {
    guard room > 0 else { return (0, 0) }
    // More is not taken than this room needs, but for what the next output frame looks back at.
    let lastFrame = place(after: room &- 1)
    let nextFrame = place(after: room)
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

  /// The input frame at or before the place `count` output frames on.
  @_noLocks
  private func place(after count: Int) -> Int {
    frame &+ (phase &+ count &* bank.inputStep) / bank.outputStep
  }

  /// Turns to the next output frame.
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

/// The weights of every place between two input frames at which a fixed ratio has an output frame,
/// each worked out exactly.
///
/// In lowest terms a ratio is a number of input frames in the time of a number of output frames,
/// and after that number of output frames the places repeat. The rows lie in the order in which
/// output frames come, so that memory is read straight on.
struct PolyphaseBank: ~Copyable, Sendable {
  /// More rows, or more bytes, are not worth their memory.
  private static let maximumRows = 1280
  private static let maximumBytes = 1 << 20

  /// Output frames after which all repeats: as many as there are rows.
  let outputStep: Int
  /// Input frames in the same time.
  let inputStep: Int
  /// Input frames on each side that the kernel reaches.
  let halfWidth: Int
  private let rows: SampleBuffer

  /// The bank for two rates, in Hz; nil where it would be too large. Not on the audio thread:
  /// computes the kernel.
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
    // All places that a row looks at are multiples of a row's distance, and the kernel is even.
    // Its very end, which a row could only look at on one side, weighs nothing.
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

  /// The weights of output frame `row` of a cycle for the frames from `halfWidth` - 1 before the
  /// one at or before its place to `halfWidth` after it, as a `WeightRow`.
  @_noLocks
  func weights(ofRow row: Int) -> UnsafePointer<Float> {
    UnsafePointer(rows.base + row &* WeightRow.sampleCount(weights: 2 &* halfWidth))
  }
}

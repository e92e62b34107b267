// Audio thread.
import AudioBasics

/// The weights of every place between two input frames at which a fixed ratio has an output frame,
/// each worked out exactly.
///
/// In lowest terms a ratio is a number of input frames in the time of a number of output frames, and
/// after so many output frames the places repeat. The rows lie in the order in which output frames
/// come, so that memory is read straight on.
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
      $0 == end ? 0 : Float(kernel.value(at: Double($0) / Double(outputStep)))
    }
    var rows = SampleBuffer(frameCount: outputStep, channelCount: width)
    for row in 0..<outputStep {
      let phase = row * inputStep % outputStep
      for tap in 0..<width {
        let place = (tap - halfWidth + 1) * outputStep - phase
        rows[row * width + tap] = curve[abs(place)]
      }
    }
    self.inputStep = inputStep
    self.outputStep = outputStep
    self.halfWidth = halfWidth
    self.rows = rows
  }

  /// The weights of output frame `row` of a cycle for the frames from `halfWidth` - 1 before the one
  /// at or before its place to `halfWidth` after it.
  @_noLocks
  func weights(ofRow row: Int) -> UnsafePointer<Float> {
    UnsafePointer(rows.base + row &* 2 &* halfWidth)
  }
}

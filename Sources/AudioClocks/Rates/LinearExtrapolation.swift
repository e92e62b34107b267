import AudioBasics

/// Extends a signal after its last frame or before its first frame by linear prediction, for
/// filters that need samples beyond an edge.
///
/// Burg's method (J. P. Burg, "Maximum entropy spectral analysis", 1975; the recursion of N.
/// Andersen, Geophysics 39, 1974) finds the prediction with the least forward and backward errors.
/// Tones continue for long, noise decays. Not on the audio thread.
public enum LinearExtrapolation {
  /// The number of frames that are analysed, and the number of prediction coefficients.
  private static let pastFrames = 1024
  private static let order = 48

  /// Fills `following` with `count` frames that continue the first `frames` frames of `sound`. Both
  /// buffers must have the same number of channels, and as many frames.
  public static func extrapolate(
    after sound: borrowing SampleBuffer, frames: Int, into following: inout SampleBuffer, count: Int
  ) {
    requireFrames(of: sound, frames, following, count)
    let channelCount = sound.channelCount
    let past = min(frames, pastFrames)
    for channel in 0..<channelCount {
      let known = (frames - past..<frames).map { Double(sound[$0 * channelCount + channel]) }
      for (frame, value) in extrapolated(known, count).enumerated() {
        following[frame * channelCount + channel] = Float(value)
      }
    }
  }

  /// Fills `earlier` with `count` frames that precede the first frame of `sound`, of whose first
  /// `frames` frames the prediction is made. The last frame of `earlier` is directly before them.
  /// Both buffers must have the same number of channels, and as many frames.
  public static func extrapolate(
    before sound: borrowing SampleBuffer, frames: Int, into earlier: inout SampleBuffer, count: Int
  ) {
    requireFrames(of: sound, frames, earlier, count)
    let channelCount = sound.channelCount
    let known = min(frames, pastFrames)
    for channel in 0..<channelCount {
      let turned = (0..<known).reversed().map { Double(sound[$0 * channelCount + channel]) }
      for (frame, value) in extrapolated(turned, count).enumerated() {
        earlier[(count - 1 - frame) * channelCount + channel] = Float(value)
      }
    }
  }

  /// The former name of `extrapolate(after:frames:into:count:)`.
  @available(*, deprecated, renamed: "extrapolate(after:frames:into:count:)")
  public static func goOn(
    after sound: borrowing SampleBuffer, frames: Int, into following: inout SampleBuffer, count: Int
  ) {
    extrapolate(after: sound, frames: frames, into: &following, count: count)
  }

  /// The former name of `extrapolate(before:frames:into:count:)`.
  @available(*, deprecated, renamed: "extrapolate(before:frames:into:count:)")
  public static func goBack(
    before sound: borrowing SampleBuffer, frames: Int, into earlier: inout SampleBuffer, count: Int
  ) {
    extrapolate(before: sound, frames: frames, into: &earlier, count: count)
  }

  /// Ends the program with a sentence unless both buffers have the same channels and enough frames.
  private static func requireFrames(
    of sound: borrowing SampleBuffer, _ frames: Int, _ predicted: borrowing SampleBuffer,
    _ count: Int
  ) {
    requirement(
      sound.channelCount == predicted.channelCount,
      "The two buffers need the same number of channels.")
    sound.requireFrames(from: 0, frames)
    predicted.requireFrames(from: 0, count)
  }

  private static func extrapolated(_ known: [Double], _ count: Int) -> [Double] {
    let coefficients = burg(known, order: min(order, known.count / 3))
    guard !coefficients.isEmpty else { return Array(repeating: 0, count: count) }
    var signal = known
    for _ in 0..<count {
      var sum = 0.0
      for (index, coefficient) in coefficients.enumerated() {
        sum -= coefficient * signal[signal.count - 1 - index]
      }
      // Limit an unstable prediction.
      signal.append(max(-4, min(4, sum)))
    }
    return Array(signal.suffix(count))
  }

  /// Returns the coefficients a1, a2 ... that minimize the power of x[n] + a1 x[n - 1] + a2 x[n -
  /// 2] ...
  private static func burg(_ signal: [Double], order: Int) -> [Double] {
    var forward = signal
    var backward = signal
    var coefficients: [Double] = []
    let count = signal.count
    for stage in 0..<order {
      var products = 0.0
      var powers = 0.0
      for index in stage + 1..<count {
        products += forward[index] * backward[index - 1]
        powers += forward[index] * forward[index] + backward[index - 1] * backward[index - 1]
      }
      // The prediction error is zero.
      guard powers > 1e-24 else { break }
      let reflection = -2 * products / powers
      let turned = Array(coefficients.reversed())
      for index in coefficients.indices { coefficients[index] += reflection * turned[index] }
      coefficients.append(reflection)
      for index in stride(from: count - 1, to: stage, by: -1) {
        let ahead = forward[index]
        forward[index] = ahead + reflection * backward[index - 1]
        backward[index] = backward[index - 1] + reflection * ahead
      }
    }
    return coefficients
  }
}

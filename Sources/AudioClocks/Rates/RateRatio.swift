/// Input frames to output frames as a fraction in lowest terms, both at most `largestTerm`.
struct RateRatio: Equatable {
  let input: Int
  let output: Int

  /// Beyond this the resampler's 32-bit arithmetic overflows.
  static let largestTerm = 65535

  /// The ratio of two rates: exact where its terms are small enough, as for every pair of usual
  /// rates, else the nearest that is.
  init(inputRate: Int, outputRate: Int) {
    var (rest, divisor) = (inputRate, outputRate)
    // The continued fraction's last two convergents.
    var (before, last) = ((input: 0, output: 1), (input: 1, output: 0))
    while divisor != 0 {
      let quotient = rest / divisor
      // As much of the next step as the terms have room for.
      let room = min(
        last.input > 0 ? (Self.largestTerm - before.input) / last.input : quotient,
        last.output > 0 ? (Self.largestTerm - before.output) / last.output : quotient)
      let step = min(quotient, room)
      let next = (
        input: step * last.input + before.input, output: step * last.output + before.output
      )
      if step < quotient {
        // Half a step or less may be further away than none.
        if 2 * step > quotient { last = next }
        break
      }
      (before, last) = (last, next)
      (rest, divisor) = (divisor, rest % divisor)
    }
    (input, output) = last
  }

  /// How far it is from the ratio of the rates, in parts per million.
  func errorPPM(inputRate: Int, outputRate: Int) -> Double {
    let wanted = Double(inputRate) / Double(outputRate)
    return (Double(input) / Double(output) / wanted - 1) * 1e6
  }
}

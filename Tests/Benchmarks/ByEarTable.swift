import AudioSpectra
import DelayEstimation
import TestSupport

/// The results of a number of trials.
struct ByEarOutcome {
  private(set) var trials = 0
  private(set) var answers = 0
  /// The number of wrong answers, and the number of wrong answers not marked as doubtful.
  private(set) var wrong = 0
  private(set) var surelyWrong = 0
  /// The number of trials in which the maximum of the plain correlation, at a whole frame, is
  /// within the tolerance; the number of these with a correct answer, and with a correct answer not
  /// marked as doubtful.
  private(set) var plainlyRight = 0
  private(set) var right = 0
  private(set) var surelyRight = 0

  mutating func run(_ trial: ByEarTrial) {
    trials += 1
    let estimate = DelayEstimator().estimate(
      reference: trial.reference.span, in: trial.recording.span)
    let isRight =
      estimate.map { abs($0.delayFrames - trial.delayFrames) <= trial.toleranceFrames } ?? false
    let isDoubtful = estimate?.isDoubtful ?? true
    answers += estimate == nil ? 0 : 1
    wrong += estimate != nil && !isRight ? 1 : 0
    surelyWrong += estimate != nil && !isRight && !isDoubtful ? 1 : 0
    guard let plain = Self.plainCorrelation(trial),
      abs(plain - trial.delayFrames) <= trial.toleranceFrames
    else { return }
    plainlyRight += 1
    right += isRight ? 1 : 0
    surelyRight += isRight && !isDoubtful ? 1 : 0
  }

  /// Returns the lag at which the correlation is largest.
  private static func plainCorrelation(_ trial: ByEarTrial) -> Double? {
    guard
      let transform = FourierTransform(atLeast: trial.recording.count + trial.reference.count)
    else { return nil }
    let played = transform.spectrum(of: trial.reference.span)
    let recorded = transform.spectrum(of: trial.recording.span)
    let product = zip(played, recorded).map { $0.conjugate * $1 }
    let correlation = transform.signal(of: product)
    let lags = 0..<trial.recording.count
    return lags.max { abs(correlation[$0]) < abs(correlation[$1]) }.map { Double($0) }
  }
}

/// Prints, as Markdown, the results of the delay estimator for `count` random recordings, starting
/// with trial `first`.
func printByEarTrials(_ count: Int, first: UInt64) {
  var outcome = ByEarOutcome()
  for number in 0..<UInt64(max(1, count)) {
    guard let trial = ByEarTrial(seed: first &+ number) else { continue }
    outcome.run(trial)
  }
  func part(_ number: Int, of all: Int) -> String {
    "\(number) (\((100 * Double(number) / Double(max(1, all))).shown(1)) %)"
  }
  print("| \(outcome.trials) recordings by chance | |")
  print("| --- | ---: |")
  print("| answered | \(part(outcome.answers, of: outcome.trials)) |")
  print("| wrong, with a doubt | \(outcome.wrong - outcome.surelyWrong) |")
  print("| wrong, without a doubt | \(outcome.surelyWrong) |")
  print("| plain correlation is right | \(part(outcome.plainlyRight, of: outcome.trials)) |")
  print("| of these answered right | \(part(outcome.right, of: outcome.plainlyRight)) |")
  print("| and without a doubt | \(part(outcome.surelyRight, of: outcome.plainlyRight)) |")
}

import AudioBasics
import DelayEstimation
import Glibc
import TestSupport

/// Prints the error of the delay estimator for several noise levels and signal paths.
func printAccuracy(trials: Int) {
  var random = SplitMix64(seed: 20_260_131)
  print("way          SNR dB  answers  doubtful  RMS error  largest   RMS/bound  wrong, no doubt")
  for way in DelayedSignal.Way.allCases {
    for level in stride(from: -10.0, through: 60, by: 10) {
      var row = AccuracyRow()
      for _ in 0..<trials {
        let rates = way.isBandLimited ? [44100, 48000, 96000] : [8000, 16000, 44100, 48000]
        let rate = rates[Int(random.next() % UInt64(rates.count))]
        if let signal = DelayedSignal(way, rate: rate, signalToNoiseDB: level, random: &random) {
          row.add(signal, rate: rate, signalToNoiseDB: level)
        }
      }
      print(row.text(way.rawValue, level))
    }
  }
}

/// The errors of many estimates under the same conditions.
struct AccuracyRow {
  private var answers = 0
  private var doubtful = 0
  private var squares = 0.0
  private var largest = 0.0
  private var squaresOverBound = 0.0
  private var wrong = 0

  mutating func add(_ signal: DelayedSignal, rate: Int, signalToNoiseDB: Double) {
    guard
      let estimate = DelayEstimator().estimate(
        reference: signal.reference.span, in: signal.recording.span)
    else { return }
    answers += 1
    if estimate.isDoubtful { doubtful += 1 }
    let error = estimate.delayFrames - signal.delayFrames
    let isWrong = abs(error) > 0.5 || estimate.isInverted != signal.isInverted
    if isWrong && !estimate.isDoubtful { wrong += 1 }
    squares += error * error
    largest = max(largest, abs(error))
    let bound = DelayEstimate.bound(
      frames: rate, signalToNoise: pow(10, signalToNoiseDB / 10))
    squaresOverBound += error * error / (bound * bound)
  }

  func text(_ way: String, _ level: Double) -> String {
    let count = Double(max(1, answers))
    let rootMeanSquare = (squares / count).squareRoot()
    let overBound = (squaresOverBound / count).squareRoot()
    return way.padded(12) + "\(Int(clamping: level))".padded(8) + "\(answers)".padded(9)
      + "\(doubtful)".padded(10) + rootMeanSquare.shown(6).padded(11) + largest.shown(6).padded(10)
      + overBound.shown(2).padded(11) + "\(wrong)"
  }
}

extension String {
  /// Returns the string padded with spaces to `width` characters, followed by one more space.
  func padded(_ width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count) + 1)
  }
}

extension Double {
  /// Returns the number with `digits` digits after the decimal point.
  func shown(_ digits: Int) -> String {
    guard isFinite, abs(self) < 1e6 else { return "\(self)" }
    let scale = pow(10, Double(digits))
    let scaled = Int(rounding: abs(self) * scale)
    let rest = String(scaled % Int(clamping: scale))
    return (self < 0 ? "-" : "") + "\(scaled / Int(clamping: scale))."
      + String(repeating: "0", count: digits - rest.count) + rest
  }
}

import Foundation
import Reports
import TestSupport

/// The convergence of the ratio and the delay after the input's clock, 50 ppm fast, changes its
/// rate by `ppm`. Both clocks have USB-like batches of 48 frames and 1 ms of jitter.
struct LockCurve {
  /// The size of the step of the input's clock, in parts per million.
  let ppm: Double
  /// The number of frames per cycle.
  let period: Int
  private static let stepSeconds = 60.0

  /// Returns the moments from `before` seconds before the step to `after` seconds after it.
  func moments(before: Double, after: Double) -> [LockPicture.Moment] {
    var trial = ClockTrial(
      ClockTrial.RateSchedule(steps: [(0, 50), (Self.stepSeconds, 50 + ppm)]))
    trial.period = period
    var moments: [LockPicture.Moment] = []
    trial.run(seconds: Self.stepSeconds + after) { moment in
      let seconds = moment.seconds - Self.stepSeconds
      guard seconds >= -before else { return }
      moments.append((seconds, moment.delayError, moment.ratioErrorPPM))
    }
    return moments
  }

  /// Prints one line for each 100 ms from the start to one minute after the step.
  func printTable() {
    print("seconds,ratioErrorPPM,delayErrorFrames")
    var next = -Self.stepSeconds
    for moment in moments(before: Self.stepSeconds, after: 60) where moment.seconds >= next {
      next += 0.1
      print(
        [moment.seconds, moment.ratioErrorPPM, moment.delayError].map { $0.shown(4) }
          .joined(separator: ","))
    }
  }

  /// A picture of the same curve.
  var picture: LockPicture {
    LockPicture(
      title: "A step of \(Int(clamping: ppm)) ppm",
      subtitle: "48 kHz, period \(period), batches of 48 frames, 1 ms of jitter on both clocks",
      lockSeconds: 15, moments: moments(before: 5, after: 40))
  }
}

/// Writes one picture for each of several steps into `folder`.
func drawLockCurves(into folder: String) throws {
  for ppm in [1.0, 100, -100, 1000, -1000, 5000, -5000] {
    let path = "\(folder)/lock\(ppm < 0 ? "-minus" : "")-\(Int(clamping: abs(ppm))).svg"
    try LockCurve(ppm: ppm, period: 64).picture.svg()
      .write(toFile: path, atomically: true, encoding: .utf8)
    print(path)
  }
}

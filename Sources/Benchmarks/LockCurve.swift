import Foundation
import Reports

/// How the ratio and the delay come to what they should be after the input's clock, 50 ppm fast,
/// jumped by `ppm`. With USB's batches of 48 frames and a millisecond of jitter on both clocks.
struct LockCurve {
  /// By how much the input's clock jumps, in parts per million.
  let ppm: Double
  /// Frames a cycle.
  let period: Int
  private static let stepSeconds = 60.0

  /// The moments from `before` seconds before the step to `after` seconds behind it.
  func moments(before: Double, after: Double) -> [LockPicture.Moment] {
    var trial = ClockTrial(
      ClockTrial.Course(steps: [(0, 50), (Self.stepSeconds, 50 + ppm)]))
    trial.period = period
    var moments: [LockPicture.Moment] = []
    trial.run(seconds: Self.stepSeconds + after) { moment in
      let seconds = moment.seconds - Self.stepSeconds
      guard seconds >= -before else { return }
      moments.append(
        LockPicture.Moment(
          seconds: seconds, delayError: moment.delayError, ratioErrorPPM: moment.ratioErrorPPM))
    }
    return moments
  }

  /// Prints a line for each tenth of a second from the start to a minute after the step.
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

  /// The same as a picture.
  var picture: LockPicture {
    LockPicture(
      title: "A step of \(Int(clamping: ppm)) ppm",
      subtitle: "48 kHz, period \(period), batches of 48 frames, 1 ms of jitter on both clocks",
      lockSeconds: 15, moments: moments(before: 5, after: 40))
  }
}

/// Writes a picture for each of several steps into `folder`.
func drawLockCurves(into folder: String) throws {
  for ppm in [1.0, 100, -100, 1000, -1000, 5000, -5000] {
    let path = "\(folder)/lock\(ppm < 0 ? "-minus" : "")-\(Int(clamping: abs(ppm))).svg"
    try LockCurve(ppm: ppm, period: 64).picture.svg()
      .write(toFile: path, atomically: true, encoding: .utf8)
    print(path)
  }
}

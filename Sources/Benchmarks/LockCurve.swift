/// Prints how the ratio and the delay come to what they should be: after a start, with the input
/// 50 ppm fast, and after it jumps by `ppm` a minute later. With USB's batches of 48 frames and a
/// millisecond of jitter on both clocks, a line each tenth of a second.
func printLockCurve(ppm: Double, period: Int) {
  print("seconds,ratioErrorPPM,delayErrorFrames")
  var trial = ClockTrial(ClockTrial.Course(steps: [(0, 50), (60, 50 + ppm)]))
  trial.period = period
  var next = 0.0
  trial.run(seconds: 120) { moment in
    guard moment.seconds >= next else { return }
    next += 0.1
    print(
      [moment.seconds, moment.ratioErrorPPM, moment.delayError].map { $0.shown(4) }
        .joined(separator: ","))
  }
}

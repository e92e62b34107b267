extension ClockTrial {
  /// The largest errors of a run.
  struct Errors {
    /// Of the ratio, in parts per million, from 15 seconds after each change on.
    var ratioPPM = 0.0
    /// Of the delay, in frames, likewise.
    var delayFrames = 0.0
    /// Of the delay at any time.
    var everFrames = 0.0
  }

  /// Seconds after which everything must have settled.
  static let lockSeconds = 15.0

  /// Runs it for `seconds`, each step of the course being a change.
  func errors(seconds: Double) -> Errors {
    var errors = Errors()
    var next = 0
    let changes = course.steps.map(\.seconds)
    run(seconds: seconds) { moment in
      errors.everFrames = max(errors.everFrames, abs(moment.delayError))
      while next + 1 < changes.count, changes[next + 1] <= moment.seconds { next += 1 }
      guard moment.seconds > changes[next] + Self.lockSeconds else { return }
      errors.ratioPPM = max(errors.ratioPPM, abs(moment.ratioErrorPPM))
      errors.delayFrames = max(errors.delayFrames, abs(moment.delayError))
    }
    return errors
  }

  /// A trial with a step of the input's clock every minute.
  static func stepping(through ppm: [Double], wanderPPM: Double = 0) -> ClockTrial {
    ClockTrial(
      Course(
        steps: ppm.enumerated().map { (seconds: 60 * Double($0.offset), ppm: $0.element) },
        wanderPPM: wanderPPM))
  }
}

/// Prints the largest errors of an hour of steps and of wander under `seeds` seeds. False where one
/// is 1 ppm or 1 frame or more.
func printClockTrials(seeds: Int) -> Bool {
  let hour = { (steps: [Double]) in (0..<60).map { steps[$0 % steps.count] } }
  let trials: [(name: String, trial: ClockTrial)] = [
    ("steps of 1 ppm", .stepping(through: hour([0, 1, 0, -1]))),
    ("steps of 100 ppm", .stepping(through: hour([0, 100, 0, -100]))),
    ("steps of 1000 ppm", .stepping(through: hour([0, 1000, 0, -1000]))),
    ("wander of 20 ppm", .stepping(through: [30], wanderPPM: 20)),
  ]
  print("| an hour of | ratio off, ppm: median | worst | delay off, frames: median | worst |")
  print("| --- | ---: | ---: | ---: | ---: |")
  var isGood = true
  for (name, trial) in trials {
    let errors = (1...max(1, seeds)).map { seed in
      var trial = trial
      trial.seed = UInt64(seed)
      return trial.errors(seconds: 3600)
    }
    let ratios = errors.map(\.ratioPPM).sorted()
    let delays = errors.map(\.delayFrames).sorted()
    let middle = errors.count / 2
    guard let ratio = ratios.last, let delay = delays.last else { return false }
    isGood = isGood && ratio < 1 && delay < 1
    print(
      "| \(name) | \(ratios[middle].shown(2)) | \(ratio.shown(2)) | \(delays[middle].shown(2)) "
        + "| \(delay.shown(2)) |")
  }
  return isGood
}

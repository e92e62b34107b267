import Foundation

extension ClockTrial {
  /// The errors at several times after steps: one list for each time, with one value for each step.
  struct StepErrors {
    /// The ratio errors, in parts per million.
    var ratioPPM: [[Double]]
    /// The delay errors, in frames.
    var delayFrames: [[Double]]
  }

  /// Runs the trial for `seconds` and records the errors at `ages`, in seconds after each step
  /// except the first, which is the start.
  func errors(after ages: [Double], seconds: Double) -> StepErrors {
    var errors = StepErrors(ratioPPM: ages.map { _ in [] }, delayFrames: ages.map { _ in [] })
    let changes = schedule.steps.map(\.seconds)
    var (step, age) = (0, 0)
    run(seconds: seconds) { moment in
      while step + 1 < changes.count, changes[step + 1] <= moment.seconds {
        (step, age) = (step + 1, 0)
      }
      while step > 0, age < ages.count, moment.seconds - changes[step] >= ages[age] {
        errors.ratioPPM[age].append(abs(moment.ratioErrorPPM))
        errors.delayFrames[age].append(abs(moment.delayError))
        age += 1
      }
    }
    return errors
  }
}

/// Prints the errors 5, 7, 10 and 15 seconds after steps of several sizes, measured over one hour
/// with each of `seeds` seeds.
func printClockSteps(seeds: Int) {
  let ages = [5.0, 7, 10, 15]
  print(
    "| step | "
      + ages.map { "\(Int(clamping: $0)) s: ppm off, RMS and 99 of 100; frames" }
      .joined(separator: " | ") + " |")
  print("| ---: |" + String(repeating: " ---: |", count: ages.count))
  for ppm in [1.0, 3, 10, 30, 100, 1000] {
    let schedule = (0..<60).map { [0, ppm, 0, -ppm][$0 % 4] }
    let runs = (1...max(1, seeds)).map { seed in
      var trial = ClockTrial.stepping(through: schedule)
      trial.seed = UInt64(seed)
      return trial.errors(after: ages, seconds: 3600)
    }
    let cells = ages.indices.map { age in
      let ratios = runs.flatMap { $0.ratioPPM[age] }.sorted()
      let delays = runs.flatMap { $0.delayFrames[age] }.sorted()
      let mean = ratios.reduce(0) { $0 + $1 * $1 } / Double(max(1, ratios.count))
      let maximum = ratios.count * 99 / 100
      return
        "\(mean.squareRoot().shown(2)), \(ratios[maximum].shown(2)); \(delays[maximum].shown(2))"
    }
    print("| \(Int(clamping: ppm)) ppm | " + cells.joined(separator: " | ") + " |")
  }
}

extension ClockTrial {
  /// The errors at several times after steps: one list for each time, with one value for each step.
  package struct StepErrors {
    /// The ratio errors, in parts per million.
    package var ratioPPM: [[Double]]
    /// The delay errors, in frames.
    package var delayFrames: [[Double]]
  }

  /// Runs the trial for `seconds` and records the errors at `ages`, in seconds after each step
  /// except the first, which is the start.
  package func errors(after ages: [Double], seconds: Double) -> StepErrors {
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

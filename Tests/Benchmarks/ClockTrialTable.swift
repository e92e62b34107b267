import TestSupport

/// Prints the largest errors of a start, of an hour of steps, of an hour of slow wander and of
/// clocks with sinusoidal rate variation, for `seeds` seeds. Returns false if an error reaches its
/// limit: 1 ppm or 1 frame, but for sinusoidal variation 60 ppm (0.1 cent) and 5 frames (10 frames
/// for the fastest).
func printClockTrials(seeds: Int) -> Bool {
  let hour = { (steps: [Double]) in (0..<60).map { steps[$0 % steps.count] } }
  typealias Limits = (ppm: Double, frames: Double)
  let locked: Limits = (1, 1)
  let swaying: Limits = (60, 5)
  let trials: [(name: String, trial: ClockTrial, seconds: Double, limits: Limits)] = [
    ("a start, from 5 s to 60 s", .start, 60, locked),
    ("an hour of steps of 1 ppm", .stepping(through: hour([0, 1, 0, -1])), 3600, locked),
    ("an hour of steps of 100 ppm", .stepping(through: hour([0, 100, 0, -100])), 3600, locked),
    ("an hour of steps of 1000 ppm", .stepping(through: hour([0, 1000, 0, -1000])), 3600, locked),
    ("an hour's wander of 20 ppm", .stepping(through: [30], wanderPPM: 20), 3600, locked),
    ("20 minutes' sway of 29 ppm in a minute", .swaying(ppm: 29, period: 60), 1200, swaying),
    ("of 60 ppm in 5 minutes", .swaying(ppm: 60, period: 300), 1200, swaying),
    ("of 100 ppm in 2 minutes", .swaying(ppm: 100, period: 120), 1200, swaying),
    ("of 100 ppm in a minute", .swaying(ppm: 100, period: 60), 1200, (60, 10)),
  ]
  print("| | ratio off, ppm: median | worst | delay off, frames: median | worst |")
  print("| --- | ---: | ---: | ---: | ---: |")
  var isGood = true
  for (name, trial, seconds, limits) in trials {
    let errors = (1...max(1, seeds)).map { seed in
      var trial = trial
      trial.seed = UInt64(seed)
      return trial.errors(seconds: seconds)
    }
    let ratios = errors.map(\.ratioPPM).sorted()
    let delays = errors.map(\.delayFrames).sorted()
    let middle = errors.count / 2
    guard let ratio = ratios.last, let delay = delays.last else { return false }
    isGood = isGood && ratio < limits.ppm && delay < limits.frames
    print(
      "| \(name) | \(ratios[middle].shown(2)) | \(ratio.shown(2)) | \(delays[middle].shown(2)) "
        + "| \(delay.shown(2)) |")
  }
  return isGood
}

import Foundation
import TestSupport

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

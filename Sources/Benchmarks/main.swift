import Glibc

// Prints the error of the delay estimator against the bound of Cramér and Rao, over levels of noise
// and ways that a signal can take:
//
//     swift run -c release Benchmarks [TRIALS]
//
// or, as comma-separated values, how two clocks come together that differ by PPM after 60 seconds:
//
//     swift run -c release Benchmarks lock-curve PPM [PERIOD]
let words = Array(CommandLine.arguments.dropFirst())
if words.first == "lock-curve" {
  printLockCurve(
    ppm: words.dropFirst().first.flatMap { Double($0) } ?? 100,
    period: words.dropFirst(2).first.flatMap { Int($0) } ?? 64)
} else {
  printAccuracy(trials: words.first.flatMap { Int($0) } ?? 40)
}

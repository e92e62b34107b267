import Glibc
import RealtimeAudio

// Prints the error of the delay estimator and its Cramér-Rao bound for several noise levels and
// signal paths:
//
//     swift run -c release Benchmarks [TRIALS]
//
// or, as comma-separated values, the convergence of two clocks after a step of PPM at 60 seconds:
//
//     swift run -c release Benchmarks lock-curve PPM [PERIOD]
//
// or the purity of converters while their ratio varies, as a Markdown table:
//
//     swift run -c release Benchmarks purity
//
// or the figures of fixed-rate converters of this package and of other libraries, as Markdown
// tables:
//
//     swift run -c release Benchmarks file-conversion
//
// or the purity of the sines in recordings, one row for each channel:
//
//     swift run -c release Benchmarks sine-purity FILE...
//
// or pictures of the convergence of two clocks after steps, written into a folder:
//
//     swift run -c release Benchmarks lock-picture FOLDER
//
// or the largest errors in hours of virtual time for a number of seeds; fails if one is too large:
//
//     swift run -c release Benchmarks clock-trials [SEEDS]
//
// or the errors some seconds after steps of a clock's rate:
//
//     swift run -c release Benchmarks clock-steps [SEEDS]
//
// or the results of the delay estimator for random recordings of speech, music, noise and sweeps in
// rooms:
//
//     swift run -c release Benchmarks by-ear [RECORDINGS [FIRST]]
//
// or the results of the feedback suppressor, in a number of rooms for each gain:
//
//     swift run -c release Benchmarks howls [ROOMS [FIRST]]
//
// or the misses and cuts of the voice gate for phrases by espeak-ng in noise, and how long noises
// keep it open:
//
//     swift run -c release Benchmarks voice-gate [tuning|held-out] [SEED]
//
// or runs an engine on the simulated device for SECONDS of virtual time, to count its instructions:
//
//     swift run -c release Benchmarks engine SECONDS
//
// or runs hours of virtual time of all functions of a session, with faults (see Scripts/soak):
//
//     swift run -c release Benchmarks soak HOURS SEED one|two FOLDER
let words = Array(CommandLine.arguments.dropFirst())
if words.first == "lock-curve" {
  LockCurve(
    ppm: words.dropFirst().first.flatMap { Double($0) } ?? 100,
    period: words.dropFirst(2).first.flatMap { Int($0) } ?? 64
  ).printTable()
} else if words.first == "clock-trials" {
  let seeds = words.dropFirst().first.flatMap { Int($0) } ?? 4
  exit(printClockTrials(seeds: seeds) ? 0 : 1)
} else if words.first == "clock-steps" {
  printClockSteps(seeds: words.dropFirst().first.flatMap { Int($0) } ?? 4)
} else if words.first == "engine" {
  runEngine(seconds: words.dropFirst().first.flatMap { Double($0) } ?? 2)
} else if words.first == "soak" {
  // As in the tool.
  MemoryLock.separateLargeBlocks()
  let clocks = words.dropFirst(3).first.flatMap { SoakClocks(rawValue: $0) } ?? .one
  let soak = Soak(
    hours: words.dropFirst().first.flatMap { Double($0) } ?? 1,
    seed: words.dropFirst(2).first.flatMap { UInt64($0) } ?? 1, clocks,
    folder: words.dropFirst(4).first ?? ".")
  exit(try soak.run() ? 0 : 1)
} else if words.first == "howls" {
  printHowls(
    rooms: words.dropFirst().first.flatMap { Int($0) } ?? 60,
    first: words.dropFirst(2).first.flatMap { UInt64($0) } ?? 1)
} else if words.first == "voice-gate" {
  try printVoiceGate(
    words.dropFirst().first.flatMap { SpokenMaterial(rawValue: $0) } ?? .heldOut,
    seed: words.dropFirst(2).first.flatMap { UInt64($0) } ?? 1)
} else if words.first == "by-ear" {
  printByEarTrials(
    words.dropFirst().first.flatMap { Int($0) } ?? 1000,
    first: words.dropFirst(2).first.flatMap { UInt64($0) } ?? 1)
} else if words.first == "purity" {
  printPurity()
} else if words.first == "file-conversion" {
  printFileConversion()
} else if words.first == "sine-purity" {
  exit(printSinePurity(files: Array(words.dropFirst())) ? 0 : 1)
} else if words.first == "lock-picture" {
  try drawLockCurves(into: words.dropFirst().first ?? ".")
} else {
  printAccuracy(trials: words.first.flatMap { Int($0) } ?? 40)
}

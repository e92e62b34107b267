import Glibc
import RealtimeAudio

// Prints the error of the delay estimator against the bound of Cramér and Rao, over levels of noise
// and ways that a signal can take:
//
//     swift run -c release Benchmarks [TRIALS]
//
// or, as comma-separated values, how two clocks come together that differ by PPM after 60 seconds:
//
//     swift run -c release Benchmarks lock-curve PPM [PERIOD]
// or how pure converters are while their ratio wanders, as a Markdown table:
//
//     swift run -c release Benchmarks purity
//
// or how converters do at fixed rates, those of files and those of others, as Markdown tables:
//
//     swift run -c release Benchmarks file-conversion
//
// or how pure the sines in recordings are, a row for each channel:
//
//     swift run -c release Benchmarks sine-purity FILE...
//
// or pictures of how two clocks come together after steps, into a folder:
//
//     swift run -c release Benchmarks lock-picture FOLDER or the largest errors of hours of virtual
//     time under a number of seeds, failing where one is too large:
//
//     swift run -c release Benchmarks clock-trials [SEEDS]
// or what is off some seconds after steps of a clock's rate:
//
//     swift run -c release Benchmarks clock-steps [SEEDS]
// or what the estimator makes of recordings by chance, of speech, music, noise and sweeps in rooms:
//
//     swift run -c release Benchmarks by-ear [RECORDINGS [FIRST]]
// or what becomes of howls, in a number of rooms for each gain:
//
//     swift run -c release Benchmarks howls [ROOMS [FIRST]] or what the voice gate misses and cuts
//     of phrases in noises, said by espeak-ng, and how long noises keep it open:
//
//     swift run -c release Benchmarks voice-gate [tuning|held-out] [SEED] or runs an engine on the
//     simulated device for SECONDS of virtual time, for its instructions to be counted:
//
//     swift run -c release Benchmarks engine SECONDS
//
// or hours of virtual time of all that a session can do, with faults; Scripts/soak says more:
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
  // As the tool does.
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

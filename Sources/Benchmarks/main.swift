import DelayEstimation
import Glibc

// Prints the error of the delay estimator against the bound of Cramér and Rao, over levels of noise
// and ways that a signal can take:
//
//     swift run -c release Benchmarks [TRIALS]
let trials = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 40
var random = RandomNumbers(seed: 20_260_131)
print("way          SNR dB  answers  doubtful  RMS error  largest   RMS/bound  wrong, no doubt")
for way in DelayedSignal.Way.allCases {
  for level in stride(from: -10.0, through: 60, by: 10) {
    var row = AccuracyRow()
    for _ in 0..<trials {
      let rates = way == .bandLimited ? [44100, 48000, 96000] : [8000, 16000, 44100, 48000]
      let rate = rates[Int(random.next() % UInt64(rates.count))]
      if let signal = DelayedSignal(way, rate: rate, signalToNoiseDB: level, random: &random) {
        row.add(signal, rate: rate, signalToNoiseDB: level)
      }
    }
    print(row.text(way.rawValue, level))
  }
}
for seed in 0..<6 {
  var r = RandomNumbers(seed: UInt64(seed) + 77)
  guard let s = DelayedSignal(.bandLimited, rate: 96000, signalToNoiseDB: 10, random: &r), let e = DelayEstimator().estimate(reference: s.reference.span, in: s.recording.span) else { continue }
  print(e.delayFrames - s.delayFrames, "score", e.score, "snr", e.signalToNoiseDB, "bound", e.boundFrames, e.arrivals.map { ($0.delayFrames - s.delayFrames, $0.gain / e.gain) })
}

import DelayEstimation
import Glibc

/// Prints the error of the delay estimator over levels of noise and ways that a signal can take.
func printAccuracy(trials: Int) {
  var random = RandomNumbers(seed: 20_260_131)
  print("way          SNR dB  answers  doubtful  RMS error  largest   RMS/bound  wrong, no doubt")
  for way in DelayedSignal.Way.allCases {
    for level in stride(from: -10.0, through: 60, by: 10) {
      var row = AccuracyRow()
      for _ in 0..<trials {
        let rates = way.isBandLimited ? [44100, 48000, 96000] : [8000, 16000, 44100, 48000]
        let rate = rates[Int(random.next() % UInt64(rates.count))]
        if let signal = DelayedSignal(way, rate: rate, signalToNoiseDB: level, random: &random) {
          row.add(signal, rate: rate, signalToNoiseDB: level)
        }
      }
      print(row.text(way.rawValue, level))
    }
  }
}

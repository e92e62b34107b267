import Foundation

/// Everything but a sine whose pitch wanders slowly, in decibels below it.
///
/// Blocks of 256 frames, in each of which a sine whose amplitude and phase run as a cubic of time
/// is taken out by least squares. A wander of some seconds is far slower than that, and noise,
/// images and steps are far quicker.
func impurity(_ signal: [Float], _ cyclesPerFrame: Double) -> Double {
  let block = 256
  let order = 4
  var (power, rest) = (0.0, 0.0)
  for start in stride(from: 0, to: signal.count - block, by: block) {
    let columns = (0..<2 * order).map { column in
      (0..<block).map { frame -> Double in
        let angle = 2 * .pi * cyclesPerFrame * Double(frame)
        let place = Double(2 * frame) / Double(block) - 1
        return pow(place, Double(column / 2)) * (column % 2 == 0 ? sin(angle) : cos(angle))
      }
    }
    var samples = (0..<block).map { Double(signal[start + $0]) }
    power += samples.reduce(0) { $0 + $1 * $1 }
    // Gram and Schmidt, twice as exact for taking each column out of what is left.
    var basis: [[Double]] = []
    for column in columns {
      var vector = column
      for _ in 0..<2 {
        for other in basis {
          let share = zip(vector, other).reduce(0) { $0 + $1.0 * $1.1 }
          for frame in 0..<block { vector[frame] -= share * other[frame] }
        }
      }
      let length = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
      basis.append(vector.map { $0 / length })
    }
    for vector in basis {
      let share = zip(samples, vector).reduce(0) { $0 + $1.0 * $1.1 }
      for frame in 0..<block { samples[frame] -= share * vector[frame] }
    }
    rest += samples.reduce(0) { $0 + $1 * $1 }
  }
  return 10 * log10(rest / power)
}

import Foundation

/// Returns the level of everything except a sine with slowly varying pitch, in decibels below the
/// sine.
///
/// In each block of 256 frames, a sine whose amplitude and phase are cubic functions of time is
/// removed by least squares. A pitch variation over seconds is much slower than a block; noise,
/// images and steps are much faster.
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
    // Gram-Schmidt orthogonalization, run twice for each column to improve its accuracy.
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

import Glibc

/// The sine of a known frequency that fits samples best, and what it leaves over.
struct SineFit {
  /// The sine's peak.
  let amplitude: Double
  /// What is left over, in decibels below the sine.
  let rest: Double

  /// Fits cos and sin of `radians` a frame, by least squares, to `samples` taken at `positions`.
  init(_ samples: [Float], at positions: [Double], radians: Double) {
    var (cosines, sines, mixed, alongCosine, alongSine) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for (sample, position) in zip(samples, positions) {
      let (cosine, sine) = (cos(radians * position), sin(radians * position))
      cosines += cosine * cosine
      sines += sine * sine
      mixed += cosine * sine
      alongCosine += Double(sample) * cosine
      alongSine += Double(sample) * sine
    }
    let determinant = cosines * sines - mixed * mixed
    let real = (alongCosine * sines - alongSine * mixed) / determinant
    let imaginary = (alongSine * cosines - alongCosine * mixed) / determinant
    var power = 0.0
    for (sample, position) in zip(samples, positions) {
      let fitted = real * cos(radians * position) + imaginary * sin(radians * position)
      power += (Double(sample) - fitted) * (Double(sample) - fitted)
    }
    amplitude = (real * real + imaginary * imaginary).squareRoot()
    rest = 10 * log10(amplitude * amplitude / 2 * Double(samples.count) / max(power, 1e-30))
  }
}

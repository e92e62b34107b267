import Glibc

/// The best-fitting sine of a known frequency, and the residue.
package struct SineFit {
  /// The amplitudes of the cosine and of the sine.
  package let parts: (cosine: Double, sine: Double)
  /// The level of the sine over the residue, in decibels.
  package let rest: Double

  /// The peak amplitude of the sine.
  package var amplitude: Double {
    (parts.cosine * parts.cosine + parts.sine * parts.sine).squareRoot()
  }

  /// Fits the cosine and sine of `radians` per frame to `samples` taken at `positions`, by least
  /// squares.
  package init(_ samples: [Float], at positions: [Double], radians: Double) {
    let waves = positions.map { (cosine: cos(radians * $0), sine: sin(radians * $0)) }
    var (cosines, sines, mixed, alongCosine, alongSine) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for (sample, wave) in zip(samples, waves) {
      cosines += wave.cosine * wave.cosine
      sines += wave.sine * wave.sine
      mixed += wave.cosine * wave.sine
      alongCosine += Double(sample) * wave.cosine
      alongSine += Double(sample) * wave.sine
    }
    let determinant = cosines * sines - mixed * mixed
    let real = (alongCosine * sines - alongSine * mixed) / determinant
    let imaginary = (alongSine * cosines - alongCosine * mixed) / determinant
    var power = 0.0
    for (sample, wave) in zip(samples, waves) {
      let rest = Double(sample) - real * wave.cosine - imaginary * wave.sine
      power += rest * rest
    }
    parts = (real, imaginary)
    let amplitude = (real * real + imaginary * imaginary).squareRoot()
    rest = 10 * log10(amplitude * amplitude / 2 * Double(samples.count) / max(power, 1e-30))
  }
}

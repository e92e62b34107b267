import AudioSpectra

/// How power is spread over frequency, evened out over neighbouring bins.
struct PowerDensity {
  /// The mean power around each bin.
  let bins: [Double]
  /// The mean of all.
  let mean: Double

  /// That of `spectrum`, each bin with `reach` neighbours on either side.
  init(of spectrum: [Complex], reach: Int) {
    var sums = [0.0]
    sums.reserveCapacity(spectrum.count + 1)
    var sum = 0.0
    for bin in spectrum {
      sum += Double(bin.power)
      sums.append(sum)
    }
    let count = spectrum.count
    bins = (0..<count).map { bin in
      let first = max(0, bin - reach)
      let end = min(count, bin + reach + 1)
      return (sums[end] - sums[first]) / Double(end - first)
    }
    mean = count > 0 ? sum / Double(count) : 0
  }

  /// The spectrum with this density evened out, down to 40 dB below its mean.
  func whitened(_ spectrum: [Complex]) -> [Complex] {
    let floor = 1e-4 * mean
    guard floor > 0 else { return spectrum }
    return spectrum.indices.map { spectrum[$0] * Float(1 / (bins[$0] + floor).squareRoot()) }
  }

  /// The spectrum within the band of this density: what lies 35 dB below where most of the power is,
  /// the ends of a burst for instance, is left out.
  func limited(_ spectrum: [Complex]) -> [Complex] {
    let floor = 3e-4 * bins.reduce(0) { $0 + $1 * $1 } / max(1e-300, bins.reduce(0, +))
    guard floor > 0 else { return spectrum }
    return spectrum.indices.map { spectrum[$0] * Float(bins[$0] / (bins[$0] + floor)) }
  }
}

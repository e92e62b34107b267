import Glibc

/// The phase of an arrival in one band.
struct PhaseBand {
  /// The mean angular frequency in radians per frame.
  var frequency: Double
  /// The phase less that of the delay, in radians.
  var phase: Double
  /// The natural logarithm of the gain.
  var level: Double
  /// The inverse of the variance of the phase.
  var information: Double
  /// The power of the cross-spectrum, without weights.
  var strength: Double
  /// The number of bins.
  var size: Double
}

/// An echo within the width of the peak. It is not a separate arrival, but it bends the phase,
/// which a delay does not.
///
/// Only the phase shows the echo, since a loudspeaker or a filter of linear phase changes levels
/// without an echo. The phase of a direct sound with an echo, -w d + arg(1 + g exp(-i w t)), is
/// fitted to that of the bands by weighted least squares over the echo's delay t and gain g. It is
/// preferred to the phase of a direct sound alone, -w d, if Schwarz's criterion is decisive (G.
/// Schwarz, "Estimating the dimension of a model", Annals of Statistics 6, 1978) and the echo
/// explains most of the bend. Of all echoes with a similar fit, the one that leaves the flattest
/// level over frequency is selected. If the level is flatter without an echo, there is none.
struct HiddenEcho {
  /// The largest error in frames that an undetected echo may have caused, over all echoes that
  /// would leave the phase as straight as it is.
  let worstFrames: Double
  /// The correction in frames that moves the delay to that of the direct sound, or 0 if no echo is
  /// detected.
  let correctionFrames: Double
  /// The natural logarithm of the likelihood ratio of the phase with and without the echo, or 0 if
  /// there is none.
  let likelihood: Double

  private struct Trial {
    var delay: Double
    var gain: Double
    /// The slope in frames of the straight line that fits the phase without the echo.
    var slope: Double
    /// The residual sum of squares, in variances.
    var left: Double
    /// The sum of the squared deviations of the level without the echo from its mean, weighted by
    /// the received power.
    var unevenness: Double
  }

  /// Ten in Schwarz's criterion, "very strong" evidence (R. E. Kass and A. E. Raftery, "Bayes
  /// factors", J. American Statistical Association 90, 1995).
  private static let decisive = 10.0
  /// The least fraction of the bend beyond noise that an echo must explain.
  private static let minimumShare = 0.75
  /// The difference in the sum of squares, in variances, within which a worse echo is still
  /// possible.
  private static let tie = 4.0

  /// Tries echoes of every delay within a few widths of the peak and of gains between -0.7 and 0.7.
  init(_ bands: [PhaseBand], lobe: Double) {
    // In so narrow a band a line cannot be distinguished from a curve: the delay may be anywhere
    // within the peak.
    guard bands.count > 3 else {
      (worstFrames, correctionFrames, likelihood) = (max(1, lobe), 0, 0)
      return
    }
    let none = Self.trial(bands, delay: 0, gain: 0)
    let count = Double(bands.count)
    // If the phase is bent by more than noise, for example by a filter, the effect of an echo can
    // hide in that bend.
    let unit = max(1, none.left / (count - 1))
    let tried = Self.trials(bands, lobe: lobe)
    let possible = tried.joined().filter { $0.left < none.left + 9 * unit }
    worstFrames = possible.reduce(abs(none.slope)) { max($0, abs($1.slope - none.slope)) }
    let trials = tried.compactMap { $0.min { $0.left < $1.left } }
      .map { Self.refined($0, bands, delayStep: 1, gainStep: 0.05) }
    guard let rough = trials.min(by: { $0.left < $1.left }) else {
      (correctionFrames, likelihood) = (0, 0)
      return
    }
    let best = Self.refined(rough, bands, delayStep: 1.08, gainStep: 0.02)
    // The variance is that of the residuals. If the noise is lower than expected, the phase is more
    // accurate.
    let scale = max(1e-9, best.left / (count - 3))
    let gained = none.left - best.left
    guard gained / scale > 2 * log(count) + Self.decisive,
      gained > Self.minimumShare * (none.left - min(best.left, count - 1)),
      let likeliest = (trials + [best]).filter({ $0.left <= best.left + Self.tie * scale })
        .min(by: { $0.unevenness < $1.unevenness }),
      likeliest.unevenness < none.unevenness
    else {
      (correctionFrames, likelihood) = (0, 0)
      return
    }
    correctionFrames = -likeliest.slope
    likelihood = gained / 2
  }

  /// Returns the residuals for echoes of each delay within 1.5 widths of the peak and of either
  /// sign: one for each gain.
  private static func trials(_ bands: [PhaseBand], lobe: Double) -> [[Trial]] {
    let delays = sequence(first: 1.0) { $0 * 1.15 }.prefix { $0 < min(1000, max(6, 1.5 * lobe)) }
    return delays.flatMap { delay in
      [-1.0, 1].map { sign in
        (1...7).map { trial(bands, delay: delay, gain: sign * Double($0) / 10) }
      }
    }
  }

  /// Returns the residual for an echo of the given delay and gain.
  private static func trial(_ bands: [PhaseBand], delay: Double, gain: Double) -> Trial {
    var (whole, sum, squares) = (0.0, 0.0, 0.0)
    var (weight, levels, levelSquares) = (0.0, 0.0, 0.0)
    for band in bands {
      let angle = band.frequency * delay
      let (real, imaginary) = (1 + gain * cos(angle), -gain * sin(angle))
      let phase = band.phase - atan2(imaginary, real)
      let level = band.level - log(real * real + imaginary * imaginary) / 2
      whole += band.information * band.frequency * band.frequency
      sum += band.information * band.frequency * phase
      squares += band.information * phase * phase
      // Frequencies with little received power, at the edge of a filter, carry little information.
      let received = band.information * exp(2 * band.level)
      weight += received
      levels += received * level
      levelSquares += received * level * level
    }
    guard whole > 0 else {
      return Trial(delay: delay, gain: gain, slope: 0, left: 0, unevenness: 0)
    }
    return Trial(
      delay: delay, gain: gain, slope: sum / whole, left: squares - sum * sum / whole,
      unevenness: levelSquares - levels * levels / weight)
  }

  /// Returns the best trial near `start`, by pattern search. The delay changes by factors of
  /// `delayStep` and the gain by `gainStep`. Both steps are halved if no trial is better.
  private static func refined(
    _ start: Trial, _ bands: [PhaseBand], delayStep: Double, gainStep: Double
  ) -> Trial {
    var (best, factor, step) = (start, delayStep, gainStep)
    while step > 1e-3 {
      let factors = factor > 1 ? [1, factor, 1 / factor] : [1]
      var next = best
      for factor in factors {
        for change in [0, step, -step] where factor != 1 || change != 0 {
          let gain = max(-0.7, min(0.7, best.gain + change))
          let trial = Self.trial(bands, delay: best.delay * factor, gain: gain)
          if trial.left < next.left { next = trial }
        }
      }
      if next.left < best.left {
        best = next
      } else {
        (factor, step) = (factor.squareRoot(), step / 2)
      }
    }
    return best
  }
}

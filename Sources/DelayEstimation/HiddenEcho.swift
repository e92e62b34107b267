import Glibc

/// The phase of an arrival in one band.
struct PhaseBand {
  /// Mean angular frequency in radians a frame.
  var frequency: Double
  /// The phase less that of the delay, in radians.
  var phase: Double
  /// The natural logarithm of the gain.
  var level: Double
  /// One over the variance of the phase.
  var information: Double
  /// Power of the product of both spectra, without weights.
  var strength: Double
  /// Bins.
  var size: Double
}

/// An echo within the width of the peak, which is no arrival of its own but bends the phase, which
/// a delay does not.
///
/// Phase alone tells whether it is there: what a loudspeaker or a filter of linear phase does to
/// levels is no echo. The phase of a direct sound with an echo, -w d + arg(1 + g exp(-i w t)), is
/// fitted to that of the bands by weighted least squares over the echo's delay t and gain g, and
/// preferred to that of a direct sound alone, -w d, where Schwarz's criterion is decisive (G.
/// Schwarz, "Estimating the dimension of a model", Annals of Statistics 6, 1978) and the echo
/// explains most of the bend. Of all echoes that explain it about as well that one counts which
/// leaves the level most even over frequency; where it is more even without any, there is none.
struct HiddenEcho {
  /// The largest error in frames that an unseen echo may have made: of all echoes that would leave
  /// the phase as straight as it is.
  let worstFrames: Double
  /// What the delay is to be moved by, in frames, to be that of the direct sound; 0 where no echo
  /// is surely there.
  let correctionFrames: Double
  /// How much likelier the echo makes the phase: a natural logarithm, 0 where there is none.
  let likelihood: Double

  private struct Trial {
    var delay: Double
    var gain: Double
    /// Of the straight line that fits what the echo leaves of the phase, in frames.
    var slope: Double
    /// The squares that are left, in variances.
    var left: Double
    /// The squares of the level without the echo, less its mean, each counting by the power that
    /// came through.
    var unevenness: Double
  }

  /// Schwarz's criterion by ten, "very strong" evidence (R. E. Kass and A. E. Raftery, "Bayes
  /// factors", J. American Statistical Association 90, 1995).
  private static let decisive = 10.0
  /// Of what bends the phase more than noise does, an echo must explain so much.
  private static let leastShare = 0.75
  /// Squares, in variances, by which one echo may explain the phase worse than another and still be
  /// possible.
  private static let tie = 4.0

  /// Tries echoes of every delay within a few widths of the peak and of gains up to 0.7 on either
  /// side of zero.
  init(_ bands: [PhaseBand], lobe: Double) {
    // Of so narrow a band no line can be told from a curve: anywhere within its peak.
    guard bands.count > 3 else {
      (worstFrames, correctionFrames, likelihood) = (max(1, lobe), 0, 0)
      return
    }
    let none = Self.trial(bands, delay: 0, gain: 0)
    let count = Double(bands.count)
    // Where the phase is bent more than by noise, by a filter perhaps, so much more is an echo's to
    // hide.
    let unit = max(1, none.left / (count - 1))
    var worst = abs(none.slope)
    var trials: [Trial] = []
    var delay = 1.0
    while delay < min(1000, max(6, 1.5 * lobe)) {
      for sign in [-1.0, 1] {
        let levels = (1...7).map { Self.trial(bands, delay: delay, gain: sign * Double($0) / 10) }
        for trial in levels where trial.left < none.left + 9 * unit {
          worst = max(worst, abs(trial.slope - none.slope))
        }
        if let best = levels.min(by: { $0.left < $1.left }) {
          trials.append(Self.refined(best, bands, delayStep: 1, gainStep: 0.05))
        }
      }
      delay *= 1.15
    }
    worstFrames = worst
    guard let rough = trials.min(by: { $0.left < $1.left }) else {
      (correctionFrames, likelihood) = (0, 0)
      return
    }
    let best = Self.refined(rough, bands, delayStep: 1.08, gainStep: 0.02)
    // The variance is that of the residuals: where the noise is less than was reckoned with, the
    // phase is known better.
    let scale = max(1e-9, best.left / (count - 3))
    let gained = none.left - best.left
    guard gained / scale > 2 * log(count) + Self.decisive,
      gained > Self.leastShare * (none.left - min(best.left, count - 1)),
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

  /// The squares that an echo leaves.
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
      // What hardly came through, at the edge of a filter, tells little.
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

  /// The best near `start`, by pattern search: its delay by factors of `delayStep`, its gain by
  /// `gainStep`, both halved where nothing is better.
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

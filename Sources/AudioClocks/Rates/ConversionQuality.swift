/// Quality of a `VariableRateConverter`: how exactly it interpolates, and how many frames ahead it
/// looks for that.
///
/// "Level" is within 0.1 dB. The figures hold for ratios near 1: up to that edge, all that a
/// converter adds lies at least `attenuation` below the signal. For much slower and for faster,
/// where the kernel is stretched, it is level to 0.76, 0.89 or 0.93 of half the lower rate, and
/// what would come back from above half that rate is `attenuation` down, but 120 dB at most.
public enum ConversionQuality: Sendable, CaseIterable {
  /// Looks 24 frames ahead, half a millisecond at 48 kHz: level to 0.86 of half the rate.
  case quick
  /// Looks 64 frames ahead: level to 0.94 of half the rate.
  case standard
  /// Looks 128 frames ahead: level to 0.96 of half the rate.
  case fine

  /// Input frames on each side of an output frame that the kernel looks at while it is not
  /// stretched.
  public var reachFrames: Int {
    switch self {
    case .quick: 24
    case .standard: 64
    case .fine: 128
    }
  }

  /// How far below the signal images and aliases lie, in decibels, to within 1 dB.
  public var attenuation: Double {
    switch self {
    case .quick: 100
    case .standard: 116
    case .fine: 130
    }
  }

  /// The sinc's window. Under a Kaiser window images fall by 6 dB an octave beyond the slope. The
  /// standard kernel's window has as steep a slope, with images 116 dB down, but they fall to 150
  /// dB where those of tones up to a quarter of the rate lie. Its amplitudes make the largest image
  /// as small as can be, compared with a limit that falls by 33 dB from the slope's end to 1.5
  /// times half the rate: by C. L. Lawson's reweighted least squares, 1961.
  var window: SincWindow {
    guard self == .standard else {
      return .kaiser(KaiserWindow(shape: 0.1102 * (attenuation - 8.7)))
    }
    return .cosines([
      0.35415930288469155, 0.48698033624083126, 0.14585560714867338, 0.013017896337570924,
      -1.2050072775576792e-05, -6.863569184854812e-06, 9.500388334013343e-06,
      -5.751472097088872e-06, 2.9886651921745555e-06, -1.326883013470781e-06,
      4.714149145698676e-07, -1.110831368902887e-07,
    ])
  }

  /// Half the kernel's slope from what passes to what does not, in parts of half the rate; Kaiser's
  /// formula, as in A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing".
  var slope: Double {
    (attenuation - 8) / (2.285 * Double(2 * reachFrames - 1)) / Double.pi / 2
  }
}

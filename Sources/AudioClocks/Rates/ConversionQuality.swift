/// Quality of a `VariableRateConverter`: the accuracy of its interpolation and the number of frames
/// of look-ahead that it needs.
///
/// "Flat" means within 0.1 dB. The figures are valid for ratios near 1: up to the given edge, all
/// errors of the converter are at least `attenuation` below the signal. For much lower and much
/// higher ratios, which stretch the kernel, the response is flat to 0.76, 0.89 or 0.93 of half the
/// lower rate, and aliases from above half that rate are attenuated by `attenuation`, but by 120 dB
/// at most.
public enum ConversionQuality: Sendable, CaseIterable {
  /// Looks 24 frames ahead, 0.5 ms at 48 kHz. Flat to 0.86 of half the rate.
  case quick
  /// Looks 64 frames ahead. Flat to 0.94 of half the rate.
  case standard
  /// Looks 128 frames ahead. Flat to 0.96 of half the rate.
  case fine

  /// The number of input frames on each side of an output frame that the unstretched kernel covers.
  public var reachFrames: Int {
    switch self {
    case .quick: 24
    case .standard: 64
    case .fine: 128
    }
  }

  /// The attenuation of images and aliases relative to the signal, in decibels, to within 1 dB.
  public var attenuation: Double {
    switch self {
    case .quick: 100
    case .standard: 116
    case .fine: 130
    }
  }

  /// The sinc's window. With a Kaiser window, images fall by 6 dB per octave beyond the slope. The
  /// window of the standard kernel has as steep a slope, with images at -116 dB, but they fall to
  /// -150 dB in the range of the images of tones up to a quarter of the rate. Its amplitudes
  /// minimize the largest image relative to a limit that falls by 33 dB from the end of the slope
  /// to 1.5 times half the rate, by C. L. Lawson's reweighted least squares, 1961.
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

  /// Half the width of the kernel's slope from the passband to the stopband, as a fraction of half
  /// the rate. Kaiser's formula, as in A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal
  /// Processing".
  var slope: Double {
    (attenuation - 8) / (2.285 * Double(2 * reachFrames - 1)) / Double.pi / 2
  }
}

import Glibc

/// The low-pass filter of a `RateConverter`: a sinc under a Kaiser window, whose length, edge and
/// shape follow from the quality and the ratio.
///
/// Up to quality 4 lengths and edges are speexdsp's (Jean-Marc Valin's `resample.c`); the windows
/// are exact here, which leaves noise and images lower. From 5 on, images and aliases lie 140 dB
/// down, and more quality is a steeper slope: from 128 taps on, which is as long as the standard
/// converter of a moving ratio looks, what 44.1 kHz holds passes level to 20 kHz.
struct FixedRateKernel {
  /// Kernel parameters of a quality where the output's rate is the higher one.
  private struct Design {
    let taps: Int
    /// Where the kernel passes half: in parts of half the lower rate, up and down.
    let edgeUp: Double
    let edgeDown: Double
    /// The Kaiser window's beta.
    let shape: Double
  }

  /// The beta for 140 dB by Kaiser's formula, as in A. V. Oppenheim and R. W. Schafer,
  /// "Discrete-Time Signal Processing". The slope then takes 18.4 / (taps - 1) of half the rate.
  private static let steepShape = 0.1102 * (140 - 8.7)

  private static let designs = [
    Design(taps: 8, edgeUp: 0.860, edgeDown: 0.830, shape: 6.01),
    Design(taps: 16, edgeUp: 0.880, edgeDown: 0.850, shape: 6),
    Design(taps: 32, edgeUp: 0.910, edgeDown: 0.882, shape: 6),
    Design(taps: 48, edgeUp: 0.918, edgeDown: 0.896, shape: 8.2),
    Design(taps: 64, edgeUp: 0.941, edgeDown: 0.922, shape: 8.2),
    Design(taps: 128, edgeUp: 0.975, edgeDown: 0.975, shape: steepShape),
    Design(taps: 144, edgeUp: 0.978, edgeDown: 0.978, shape: steepShape),
    Design(taps: 160, edgeUp: 0.980, edgeDown: 0.980, shape: steepShape),
    Design(taps: 192, edgeUp: 0.984, edgeDown: 0.984, shape: steepShape),
    Design(taps: 224, edgeUp: 0.986, edgeDown: 0.986, shape: steepShape),
    Design(taps: 256, edgeUp: 0.988, edgeDown: 0.988, shape: steepShape),
  ]

  /// Input frames on each side that the kernel reaches: a multiple of 4.
  let halfWidth: Int
  /// In parts of half the input's rate.
  private let edge: Double
  private let window: KaiserWindow

  /// The kernel of `quality`, 0 to 10, for `inputStep` input frames in the time of `outputStep`
  /// output frames: stretched where fewer come out.
  init(quality: Int, inputStep: Int, outputStep: Int) {
    let design = Self.designs[quality]
    if inputStep > outputStep {
      let taps = design.taps * inputStep / outputStep
      halfWidth = (taps + 7) / 8 * 4
      edge = design.edgeDown * Double(outputStep) / Double(inputStep)
    } else {
      halfWidth = design.taps / 2
      edge = design.edgeUp
    }
    window = KaiserWindow(shape: design.shape)
  }

  /// The kernel at `distance` input frames from its middle, at most `halfWidth` of them.
  func value(at distance: Double) -> Double {
    let angle = Double.pi * edge * distance
    return edge * window.value(at: distance / Double(halfWidth))
      * (abs(angle) < 1e-9 ? 1 : sin(angle) / angle)
  }
}

/// Two rates in lowest terms: the frames of each that take the same time.
public struct RateRatio: Sendable, Equatable {
  /// Input frames.
  public let inputStep: Int
  /// Output frames in the same time.
  public let outputStep: Int

  /// The ratio of two rates in Hz, both above 0.
  public init(inputRate: Int, outputRate: Int) {
    // Euclid's algorithm.
    var (common, rest) = (inputRate, outputRate)
    while rest != 0 { (common, rest) = (rest, common % rest) }
    inputStep = inputRate / common
    outputStep = outputRate / common
  }
}

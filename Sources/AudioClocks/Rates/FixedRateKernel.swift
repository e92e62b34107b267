import AudioBasics
import Glibc

/// The low-pass filter of a `RateConverter`: a sinc with a Kaiser window, whose length, edge and
/// shape follow from the quality and the ratio.
///
/// Up to quality 4, lengths and edges are those of speexdsp (Jean-Marc Valin's `resample.c`). The
/// windows are exact here, which results in lower noise and images. From 5 on, images and aliases
/// are at -140 dB, and a higher quality has a steeper slope. From 128 taps on, the length of the
/// standard kernel of `VariableRateConverter`, the content of a 44.1 kHz signal passes flat to 20
/// kHz.
struct FixedRateKernel {
  /// Kernel parameters of a quality if the output rate is the higher one.
  private struct Design {
    let taps: Int
    /// The edges at which the kernel passes half the amplitude, as a fraction of half the lower
    /// rate, for conversion up and down.
    let edgeUp: Double
    let edgeDown: Double
    /// The beta of the Kaiser window.
    let shape: Double
  }

  /// The beta for 140 dB by Kaiser's formula, as in A. V. Oppenheim and R. W. Schafer,
  /// "Discrete-Time Signal Processing". The slope then covers 18.4 / (taps - 1) of half the rate.
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

  /// The number of input frames on each side that the kernel covers, a multiple of 4.
  let halfWidth: Int
  /// The edge as a fraction of half the input rate.
  private let edge: Double
  private let window: KaiserWindow

  /// Creates the kernel of `quality`, 0 to 10, for `inputStep` input frames per `outputStep` output
  /// frames. It is stretched if the output has fewer frames.
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

  /// Returns the value of the kernel at `distance` input frames from its middle, at most
  /// `halfWidth`.
  func value(at distance: Double) -> Double {
    let angle = Double.pi * edge * distance
    return edge * window.value(at: distance / Double(halfWidth))
      * (abs(angle) < 1e-9 ? 1 : sin(angle) / angle)
  }
}

/// Two rates in lowest terms: the numbers of frames of each rate in the same time.
public struct RateRatio: Sendable, Equatable {
  /// The number of input frames.
  public let inputStep: Int
  /// The number of output frames in the same time.
  public let outputStep: Int

  /// Creates the ratio of two rates in Hz, both above 0: another rate ends the program with a
  /// message.
  public init(inputRate: Int, outputRate: Int) {
    requirement(inputRate > 0 && outputRate > 0, "The rates of a ratio must be above 0.")
    // Euclid's algorithm.
    var (common, rest) = (inputRate, outputRate)
    while rest != 0 { (common, rest) = (rest, common % rest) }
    inputStep = inputRate / common
    outputStep = outputRate / common
  }
}

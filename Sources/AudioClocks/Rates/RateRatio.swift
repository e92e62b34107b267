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

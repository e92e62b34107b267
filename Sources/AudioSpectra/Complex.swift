/// A complex number, as spectra are made of.
public struct Complex: BitwiseCopyable, Sendable, Equatable {
  /// The part along the cosine.
  public var real: Float
  /// The part along the sine.
  public var imaginary: Float

  /// A number of these two parts.
  public init(_ real: Float, _ imaginary: Float) {
    self.real = real
    self.imaginary = imaginary
  }

  /// The square of its magnitude: a power.
  public var power: Float { real * real + imaginary * imaginary }

  /// The number with its phase turned round.
  public var conjugate: Complex { Complex(real, -imaginary) }

  /// The product of two numbers.
  public static func * (left: Complex, right: Complex) -> Complex {
    Complex(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }

  /// The number, stretched.
  public static func * (left: Complex, factor: Float) -> Complex {
    Complex(left.real * factor, left.imaginary * factor)
  }
}

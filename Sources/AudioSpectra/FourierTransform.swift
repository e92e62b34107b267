import AudioBasics
import CKissFFT
import Glibc

/// The discrete Fourier transform of real signals of one length, and its inverse, computed by
/// KissFFT in single precision.
///
/// Bin k of the spectrum of `length` frames is the sum of x[n] exp(-2 pi i k n / length), for k
/// from 0 to length / 2. The inverse divides by the length, so that a transform and its inverse
/// restore the signal. Not for the audio thread. One thread at a time.
///
/// ```swift
/// if let transform = FourierTransform(atLeast: 480) {  // nil without memory for it
///   let tone = (0..<transform.length).map {
///     RealtimeMath.cos(2 * .pi * 10 * Float($0) / Float(transform.length))
///   }
///   let bins = transform.spectrum(of: tone.span)
///   let loudest = bins.indices.max { bins[$0].power < bins[$1].power }
///   precondition(loudest == 10)
/// }
/// ```
public struct FourierTransform: ~Copyable, @unchecked Sendable {
  // @unchecked because the plans have one owner, which moves with the value.
  private let forwardPlan: kiss_fftr_cfg
  private let inversePlan: kiss_fftr_cfg

  /// The number of frames in a signal, which is even.
  public let length: Int

  /// The number of bins in a spectrum.
  public var binCount: Int { length / 2 + 1 }

  /// Creates a transform of at least `frames` frames: the next length with small prime factors,
  /// which is fast. Nil if memory is short, or above 2^28 frames.
  public init?(atLeast frames: Int) {
    guard frames <= 1 << 28 else { return nil }
    let length = 2 * Int(kiss_fft_next_fast_size(Int32(max(2, frames) + 1) / 2))
    guard let forward = kiss_fftr_alloc(Int32(length), 0, nil, nil) else { return nil }
    guard let inverse = kiss_fftr_alloc(Int32(length), 1, nil, nil) else {
      free(UnsafeMutableRawPointer(forward))
      return nil
    }
    self.length = length
    forwardPlan = forward
    inversePlan = inverse
  }

  deinit {
    free(UnsafeMutableRawPointer(forwardPlan))
    free(UnsafeMutableRawPointer(inversePlan))
  }

  /// Returns the spectrum of `signal`, which is padded with silence or truncated to `length`.
  public func spectrum(of signal: Span<Float>) -> [ComplexFloat] {
    var padded = [Float](repeating: 0, count: length)
    for index in 0..<min(length, signal.count) { padded[index] = signal[index] }
    var bins = [ComplexFloat](repeating: ComplexFloat(0, 0), count: binCount)
    spectrum(of: padded, into: &bins)
    return bins
  }

  /// Returns the signal whose spectrum is `spectrum`.
  public func signal(of spectrum: [ComplexFloat]) -> [Float] {
    var frames = [Float](repeating: 0, count: length)
    signal(of: spectrum, into: &frames)
    return frames
  }

  /// Writes the spectrum of `length` frames to `bins`, without allocating.
  public func spectrum(of signal: [Float], into bins: inout [ComplexFloat]) {
    requirement(
      signal.count == length && bins.count == binCount,
      "A Fourier transform got a signal or a spectrum of another length than its own.")
    signal.withUnsafeBufferPointer { frames in
      bins.withUnsafeMutableBufferPointer { bins in
        guard let target = bins.baseAddress, let source = frames.baseAddress else { return }
        // The same two floats, with the type that C uses for them.
        target.withMemoryRebound(to: kiss_fft_cpx.self, capacity: binCount) {
          kiss_fftr(forwardPlan, source, $0)
        }
      }
    }
  }

  /// Writes the signal whose spectrum is `spectrum` to `frames`, without allocating.
  public func signal(of spectrum: [ComplexFloat], into frames: inout [Float]) {
    requirement(
      spectrum.count == binCount && frames.count == length,
      "A Fourier transform got a signal or a spectrum of another length than its own.")
    let scale = 1 / Float(length)
    spectrum.withUnsafeBufferPointer { bins in
      frames.withUnsafeMutableBufferPointer { frames in
        guard let target = frames.baseAddress, let source = bins.baseAddress else { return }
        source.withMemoryRebound(to: kiss_fft_cpx.self, capacity: binCount) {
          kiss_fftri(inversePlan, $0, target)
        }
        for index in 0..<length { target[index] *= scale }
      }
    }
  }
}

/// A complex number in single precision, an element of a spectrum.
public struct ComplexFloat: BitwiseCopyable, Sendable, Equatable {
  /// The real part: the amplitude of the cosine.
  public var real: Float
  /// The imaginary part: the amplitude of the sine.
  public var imaginary: Float

  /// Creates a number with these two parts.
  public init(_ real: Float, _ imaginary: Float) {
    self.real = real
    self.imaginary = imaginary
  }

  /// The square of the magnitude: a power.
  public var power: Float { real * real + imaginary * imaginary }

  /// The complex conjugate.
  public var conjugate: ComplexFloat { ComplexFloat(real, -imaginary) }

  /// Returns the product of two numbers.
  public static func * (left: ComplexFloat, right: ComplexFloat) -> ComplexFloat {
    ComplexFloat(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }

  /// Returns the product of a complex and a real number.
  public static func * (left: ComplexFloat, factor: Float) -> ComplexFloat {
    ComplexFloat(left.real * factor, left.imaginary * factor)
  }
}

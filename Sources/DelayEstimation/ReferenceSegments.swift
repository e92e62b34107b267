import AudioSpectra

/// The short segments of a reference, in each of which the delay is nearly constant, and the part
/// of the recording in which each is expected.
struct ReferenceSegments: ~Copyable {
  let transform: FourierTransform
  /// The number of frames of a segment.
  let length: Int
  private let reach: Int

  /// Creates segments of a reference of `frames` frames, to be found within `reach` frames around a
  /// lag. Returns nil if memory is insufficient.
  init?(frames: Int, reach: Int) {
    let length = max(256, min(4096, frames / 12))
    guard let transform = FourierTransform(atLeast: length + 2 * reach + 1) else { return nil }
    self.transform = transform
    self.length = length
    self.reach = reach
  }

  /// Returns the frames of each segment of a reference of `count` frames. The last one may be
  /// shorter.
  func ranges(of count: Int) -> [Range<Int>] {
    stride(from: 0, to: count, by: length).map { $0..<min(count, $0 + length) }
  }

  /// Returns the spectra of a segment of `reference`, and of the frames of `recording` from `reach`
  /// frames before its lag on: the correlation of both has the lag at the index `reach`.
  func spectra(
    _ frames: Range<Int>, of reference: Span<Float>, lag: Int, in recording: (Int) -> Float
  ) -> (played: [ComplexFloat], recorded: [ComplexFloat]) {
    let segment = frames.map { reference[$0] }
    let first = frames.lowerBound + lag - reach
    let excerpt = (first..<first + length + 2 * reach).map(recording)
    return (transform.spectrum(of: segment.span), transform.spectrum(of: excerpt.span))
  }
}

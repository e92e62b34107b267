import AudioSpectra

/// The part of a recording around the place where a signal was found, with room for echoes on
/// either side: the rest of the recording holds nothing but noise.
struct Excerpt: ~Copyable {
  let transform: FourierTransform
  let spectrum: [ComplexFloat]
  /// The frame of the recording with which it begins.
  let start: Int
  /// Delays that can be told from it, counted from its beginning.
  let lags: Range<Int>

  /// Nil where memory is short.
  init?(of recording: Span<Float>, around lag: Int, frames: Int) {
    let guardFrames = DelayEstimator.guardFrames(frames)
    let first = lag - guardFrames
    let samples = (first..<first + frames + 2 * guardFrames).map {
      recording.indices.contains($0) ? recording[$0] : 0
    }
    guard let transform = FourierTransform(atLeast: samples.count) else { return nil }
    spectrum = transform.spectrum(of: samples.span)
    start = first
    lags = 0..<2 * guardFrames + 1
    self.transform = transform
  }
}

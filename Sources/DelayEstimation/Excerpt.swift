import AudioSpectra

/// The part of a recording around the position where a signal was found, with room for echoes on
/// either side. The rest of the recording contains only noise.
struct Excerpt: ~Copyable {
  let transform: FourierTransform
  let spectrum: [ComplexFloat]
  /// The first frame of the excerpt in the recording.
  let start: Int
  /// The delays that can be measured in the excerpt, in frames from its beginning.
  let lags: Range<Int>

  /// Extracts the frames around `lag`. Returns nil if memory is insufficient.
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

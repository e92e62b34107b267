import AudioBasics
import AudioSpectra
import Glibc
import RealtimeAudio

/// The power spectrum of the last milliseconds of one channel, within the band of speech.
struct PowerSpectrum: Sendable {
  /// The limit of the samples' magnitude, whose power still fits into a float.
  private static let loudest: Float = 1e6

  private let transform: SharedTransform
  /// A Hann window.
  private let window: [Float]
  /// The bins from 150 Hz to 5.5 kHz, or to the highest frequency that the rate allows.
  private let bandBins: Range<Int>
  /// The last samples, the oldest at the index `oldest`.
  private var recent: [Float]
  private var oldest = 0
  private var frames: [Float]
  private var bins: [ComplexFloat]
  /// The power in each bin of the band: for a sine at the bin's frequency, its amplitude squared,
  /// divided by four.
  private(set) var power: [Float]

  /// Creates a spectrum over `seconds` at `sampleRate`; nil if there is no memory.
  init?(seconds: Double, sampleRate: Int) {
    let rate = Double(sampleRate)
    guard let transform = SharedTransform(frames: Int(clamping: rate * seconds)) else { return nil }
    let length = transform.length
    let binHertz = rate / Double(length)
    let first = max(1, Int(clamping: min(150, rate / 10) / binHertz))
    bandBins = first..<max(first + 1, Int(clamping: min(5500, 0.45 * rate) / binHertz))
    self.transform = transform
    window = (0..<length).map { frame -> Float in
      let turn = (Double(frame) + 0.5) / Double(length)
      return Float(0.5 - 0.5 * cos(2 * Double.pi * turn))
    }
    recent = Array(repeating: 0, count: length)
    frames = recent
    bins = Array(repeating: ComplexFloat(0, 0), count: length / 2 + 1)
    power = Array(repeating: 0, count: bandBins.count)
  }

  /// Adds every `stride`-th of `samples` within `range`.
  mutating func process(_ samples: Span<Float>, in range: Range<Int>, stride: Int) {
    var index = range.lowerBound
    while index < range.upperBound {
      let sample = samples[index]
      recent[oldest] = sample.isFinite ? max(-Self.loudest, min(Self.loudest, sample)) : 0
      oldest = oldest + 1 == recent.count ? 0 : oldest + 1
      index += stride
    }
  }

  /// Computes `power` from the last samples.
  mutating func update() {
    let newer = recent.count - oldest
    for index in 0..<newer { frames[index] = recent[oldest + index] * window[index] }
    for index in 0..<oldest { frames[newer + index] = recent[index] * window[newer + index] }
    transform.spectrum(of: frames, into: &bins)
    let scale = 4 / (Float(frames.count) * Float(frames.count))
    for index in power.indices { power[index] = bins[bandBins.lowerBound + index].power * scale }
  }
}

/// A Fourier transform that copies of a gate can share, on any threads.
private final class SharedTransform: Sendable {
  private let transform: MutexBox<FourierTransform>
  let length: Int

  /// Creates a transform of at least `frames` frames; nil if there is no memory.
  init?(frames: Int) {
    guard let transform = FourierTransform(atLeast: frames) else { return nil }
    length = transform.length
    self.transform = MutexBox(transform)
  }

  func spectrum(of signal: [Float], into bins: inout [ComplexFloat]) {
    transform.withLock { $0.spectrum(of: signal, into: &bins) }
  }
}

import AudioBasics
import AudioSpectra
import Glibc

/// Converts blocks to spectra and back to blocks, with one block of delay and perfect
/// reconstruction.
///
/// A spectrum covers the last two or four blocks, about 32 to 46 ms, which resolves the harmonics
/// of a voice. The synthesis overlaps by one block only, whatever the length: the windows are
/// asymmetric. The analysis window rises over all but the newest block, both fall over the newest
/// block, and their product is a Hann window over the last two blocks (Mauler, Martin, "A low
/// delay, variable resolution, perfect reconstruction spectral analysis-synthesis system for speech
/// enhancement", EUSIPCO 2007).
struct BlockTransform: ~Copyable {
  /// The shortest length of a spectrum, in seconds.
  private static let minimumSeconds = 0.03
  /// The limit of samples, far above any audio, at which powers still fit into a float.
  private static let loudest: Float = 1e6
  /// The power added to each bin, far below the rounding of 24 bits, so that none is zero or
  /// denormal.
  static let minimumPower: Float = 1e-12

  private let blockFrames: Int
  private let transform: FourierTransform
  private let analysisWindow: [Float]
  private let synthesisWindow: [Float]
  private var frames: [Float]

  /// The number of bins of a spectrum.
  var binCount: Int { transform.binCount }
  /// The number of frames of a spectrum.
  var length: Int { transform.length }

  /// The last blocks of one channel, and the part of the output to be added to its next block.
  struct ChannelState {
    fileprivate var latest: [Float]
    fileprivate var tail: [Float]
    /// The spectrum up to the newest block.
    var spectrum: [ComplexFloat]

    /// Adds the power of each bin to `power`.
    func addPower(to power: inout [Float]) {
      for bin in 0..<power.count { power[bin] += spectrum[bin].power }
    }

    /// Multiplies each bin by its gain.
    mutating func apply(_ gains: [Float]) {
      for bin in 0..<gains.count { spectrum[bin] = spectrum[bin] * gains[bin] }
    }
  }

  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    var length = 2 * blockFrames
    while Double(length) < Self.minimumSeconds * Double(sampleRate) { length *= 2 }
    guard let transform = FourierTransform(atLeast: length), transform.length == length else {
      throw .outOfMemory
    }
    let rise = length - blockFrames
    let window = (0..<length).map { frame in
      let turn =
        frame < rise
        ? (Double(frame) + 0.5) / Double(rise)
        : (Double(length - frame) - 0.5) / Double(blockFrames)
      return sin(.pi / 2 * turn)
    }
    analysisWindow = window.map { Float($0) }
    let overlap = 2 * blockFrames
    synthesisWindow = (0..<overlap).map { frame in
      let hann = sin(.pi * (Double(frame) + 0.5) / Double(overlap))
      return Float(hann * hann / window[length - overlap + frame])
    }
    frames = Array(repeating: 0, count: length)
    self.blockFrames = blockFrames
    self.transform = transform
  }

  /// Creates the state of one channel.
  func makeChannelState() -> ChannelState {
    ChannelState(
      latest: Array(repeating: 0, count: length), tail: Array(repeating: 0, count: blockFrames),
      spectrum: Array(repeating: ComplexFloat(0, 0), count: binCount))
  }

  /// Adds a block and stores the spectrum up to its end in the state.
  mutating func analyse(_ block: [Float], _ state: inout ChannelState) {
    let kept = length - blockFrames
    for index in 0..<kept {
      state.latest[index] = state.latest[index + blockFrames]
      frames[index] = state.latest[index] * analysisWindow[index]
    }
    for index in 0..<blockFrames {
      let sample = max(-Self.loudest, min(Self.loudest, block[index]))
      state.latest[kept + index] = sample
      frames[kept + index] = sample * analysisWindow[kept + index]
    }
    transform.spectrum(of: frames, into: &state.spectrum)
  }

  /// Writes to `block` the block before the newest one, from the state's spectrum.
  mutating func synthesise(_ state: inout ChannelState, _ block: inout [Float]) {
    transform.signal(of: state.spectrum, into: &frames)
    let first = length - 2 * blockFrames
    for index in 0..<blockFrames {
      block[index] = state.tail[index] + frames[first + index] * synthesisWindow[index]
      state.tail[index] =
        frames[first + blockFrames + index] * synthesisWindow[blockFrames + index]
    }
  }
}

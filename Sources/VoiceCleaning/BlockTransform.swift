import AudioBasics
import AudioSpectra
import Glibc

/// Turns blocks into spectra and spectra into blocks again, one block late: what is left as it was
/// comes out as it was.
///
/// A spectrum is that of the last two or four blocks, about 32 to 46 ms, in which the harmonics of
/// a voice are told apart. What is put together again overlaps by a block only, whatever the
/// length: the windows are asymmetric, the first rising over all but the newest block, both falling
/// over that, so that their product is a Hann window over the last two blocks (Mauler, Martin, "A
/// low delay, variable resolution, perfect reconstruction spectral analysis-synthesis system for
/// speech enhancement", EUSIPCO 2007).
struct BlockTransform: ~Copyable {
  /// How long a spectrum looks back at least, in seconds.
  private static let shortestSeconds = 0.03
  /// No sound is as loud as this: powers of it still fit into a float.
  private static let loudest: Float = 1e6
  /// What is added to powers, far below the rounding of 24 bits: none is zero or denormal.
  static let leastPower: Float = 1e-12

  private let blockFrames: Int
  private let transform: FourierTransform
  private let analysisWindow: [Float]
  private let synthesisWindow: [Float]
  private var frames: [Float]

  /// Bins of a spectrum.
  var binCount: Int { transform.binCount }
  /// Frames that a spectrum is made of.
  var length: Int { transform.length }

  /// One channel's last blocks, and what is still to be added to its next.
  struct Lane {
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
    while Double(length) < Self.shortestSeconds * Double(sampleRate) { length *= 2 }
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

  /// What is kept of one channel.
  func makeLane() -> Lane {
    Lane(
      latest: Array(repeating: 0, count: length), tail: Array(repeating: 0, count: blockFrames),
      spectrum: Array(repeating: ComplexFloat(0, 0), count: binCount))
  }

  /// Takes in a block, and puts the spectrum up to its end into the lane.
  mutating func analyse(_ block: [Float], _ lane: inout Lane) {
    let kept = length - blockFrames
    for index in 0..<kept {
      lane.latest[index] = lane.latest[index + blockFrames]
      frames[index] = lane.latest[index] * analysisWindow[index]
    }
    for index in 0..<blockFrames {
      let sample = max(-Self.loudest, min(Self.loudest, block[index]))
      lane.latest[kept + index] = sample
      frames[kept + index] = sample * analysisWindow[kept + index]
    }
    transform.spectrum(of: frames, into: &lane.spectrum)
  }

  /// Puts the block before the newest one of the lane's spectrum into `block`.
  mutating func synthesise(_ lane: inout Lane, _ block: inout [Float]) {
    transform.signal(of: lane.spectrum, into: &frames)
    let first = length - 2 * blockFrames
    for index in 0..<blockFrames {
      block[index] = lane.tail[index] + frames[first + index] * synthesisWindow[index]
      lane.tail[index] =
        frames[first + blockFrames + index] * synthesisWindow[blockFrames + index]
    }
  }
}

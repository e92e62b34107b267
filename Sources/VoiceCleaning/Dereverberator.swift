import AudioBasics
import AudioSpectra
import Glibc

/// Lowers a room's late reverberation in one channel, or in two with one gain, so that what lies
/// between left and right stays where it is.
///
/// Two blocks at a time are weighted with the root of a Hann window, before and after: their
/// overlapping sums come to 1, so that what is not lowered comes out as it was, one block late.
/// What is early, up to about 50 ms, carries speech and is kept; what is late is estimated from
/// what was heard before, and lowered by up to 12 dB.
final class Dereverberator {
  /// No sound is as loud as this: powers of it still fit into a float.
  private static let loudest: Float = 1e6
  /// What is added to powers, far below the rounding of 24 bits: none is zero or denormal.
  private static let leastPower: Float = 1e-12

  /// One channel's last block, what is still to be added to its next, and its spectrum.
  private struct Lane {
    var before: [Float]
    var tail: [Float]
    var spectrum: [Complex]
  }

  private let channels: Range<Int>
  private let transform: FourierTransform
  private let window: [Float]
  private var lanes: [Lane]
  private var frames: [Float]
  private var power: [Float]
  private var decay: RoomDecay
  private var late: LateReverberation
  private var suppression: SuppressionGain

  /// Works on these `channels` of what it is given.
  init(channels: Range<Int>, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let length = 2 * blockFrames
    guard let transform = FourierTransform(atLeast: length), transform.length == length else {
      throw .outOfMemory
    }
    let binCount = transform.binCount
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    self.channels = channels
    window = (0..<length).map { Float(sin(.pi * Double($0) / Double(length))) }
    lanes = channels.map { _ in
      Lane(
        before: Array(repeating: 0, count: blockFrames),
        tail: Array(repeating: 0, count: blockFrames),
        spectrum: Array(repeating: Complex(0, 0), count: binCount))
    }
    frames = Array(repeating: 0, count: length)
    power = Array(repeating: 0, count: binCount)
    decay = RoomDecay(
      blockSeconds: blockSeconds, binHertz: Double(sampleRate) / Double(length),
      binCount: binCount)
    late = LateReverberation(blockSeconds: blockSeconds, binCount: binCount)
    suppression = SuppressionGain(blockSeconds: blockSeconds, binCount: binCount)
    self.transform = transform
  }

  /// Takes in a block of each channel and puts the one before, drier, in its place.
  func run(_ blocks: inout [[Float]]) {
    for bin in 0..<power.count { power[bin] = Self.leastPower }
    for (lane, channel) in channels.enumerated() { analyse(&blocks[channel], lane) }
    decay.watch(power)
    late.follow(power, decaySeconds: decay.seconds)
    suppression.update(power: power, unwanted: late.power)
    for (lane, channel) in channels.enumerated() { synthesise(&blocks[channel], lane) }
  }

  private func analyse(_ block: inout [Float], _ lane: Int) {
    let half = block.count
    for index in 0..<half {
      let sample = max(-Self.loudest, min(Self.loudest, block[index]))
      frames[index] = lanes[lane].before[index] * window[index]
      frames[half + index] = sample * window[half + index]
      lanes[lane].before[index] = sample
    }
    transform.spectrum(of: frames, into: &lanes[lane].spectrum)
    for bin in 0..<power.count { power[bin] += lanes[lane].spectrum[bin].power }
  }

  private func synthesise(_ block: inout [Float], _ lane: Int) {
    let half = block.count
    for bin in 0..<power.count {
      lanes[lane].spectrum[bin] = lanes[lane].spectrum[bin] * suppression.gains[bin]
    }
    transform.signal(of: lanes[lane].spectrum, into: &frames)
    for index in 0..<half {
      block[index] = lanes[lane].tail[index] + frames[index] * window[index]
      lanes[lane].tail[index] = frames[half + index] * window[half + index]
    }
  }
}

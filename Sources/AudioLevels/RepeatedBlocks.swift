// Audio thread.

import AudioBasics

/// The last blocks of samples that were interpolated, all of the same length. A block that repeats,
/// as in a loop of a few frames, can be skipped.
struct RepeatedBlocks: ~Copyable {
  private let sampleCount: Int
  /// The number of blocks that are kept.
  private let blockCount: Int
  /// The blocks, one per frame of the buffer.
  private var blocks: SampleBuffer
  /// A hash of the bits of a few samples of each block, used to find it.
  private var keys: SampleBuffer
  private var oldest = 0
  /// Whether the last block that was searched was found, so that the next one is likely to be found
  /// too.
  private(set) var isRepeating = false

  /// Creates memory for `blockCount` blocks, a multiple of four, of `sampleCount` samples.
  init(blockCount: Int, sampleCount: Int) {
    self.sampleCount = sampleCount
    self.blockCount = blockCount
    blocks = SampleBuffer(frameCount: blockCount, channelCount: sampleCount)
    keys = SampleBuffer(frameCount: blockCount, channelCount: 1)
  }

  /// Returns whether the `count` samples are equal to a block that is kept.
  @_noLocks
  mutating func contains(_ samples: UnsafePointer<Float>, _ count: Int) -> Bool {
    isRepeating = false
    guard blockCount > 0 && count == sampleCount else { return false }
    let key = Self.key(of: samples, count)
    let keys = UnsafeRawPointer(keys.base)
    let wanted = SIMD4<UInt32>(repeating: key)
    var found = SIMD4<UInt32>()
    var index = 0
    while index < blockCount {
      let four = keys.load(fromByteOffset: 4 &* index, as: SIMD4<UInt32>.self)
      found |= unsafeBitCast(four .== wanted, to: SIMD4<UInt32>.self)
      index &+= 4
    }
    let halves = unsafeBitCast(found, to: SIMD2<UInt64>.self)
    guard halves[0] | halves[1] != 0 else { return false }
    index = 0
    while index < blockCount {
      if keys.load(fromByteOffset: 4 &* index, as: UInt32.self) == key,
        isEqual(samples, to: blocks.base + index &* sampleCount)
      {
        isRepeating = true
        return true
      }
      index &+= 1
    }
    return false
  }

  /// Keeps a block of `count` samples in place of the oldest one.
  @_noLocks
  mutating func add(_ samples: UnsafePointer<Float>, _ count: Int) {
    guard count == sampleCount && blockCount > 0 else { return }
    let block = blocks.base + oldest &* sampleCount
    for sample in 0..<count { block[sample] = samples[sample] }
    keys.base[oldest] = Float(bitPattern: Self.key(of: samples, count))
    oldest = oldest &+ 1 == blockCount ? 0 : oldest &+ 1
  }

  @_noLocks
  private static func key(of samples: UnsafePointer<Float>, _ count: Int) -> UInt32 {
    let first = samples[0].bitPattern &* 0x9E37_79B1
    let middle = (first ^ samples[count / 2].bitPattern) &* 0x85EB_CA77
    return (middle ^ samples[count &- 1].bitPattern) &* 0xC2B2_AE3D
  }

  /// Returns whether all bits are equal.
  @_noLocks
  private func isEqual(_ samples: UnsafePointer<Float>, to block: UnsafePointer<Float>) -> Bool {
    let (samples, block) = (UnsafeRawPointer(samples), UnsafeRawPointer(block))
    var differences = SIMD8<UInt32>()
    var index = 0
    while index &+ 8 <= sampleCount {
      differences |=
        samples.loadUnaligned(fromByteOffset: 4 &* index, as: SIMD8<UInt32>.self)
        ^ block.loadUnaligned(fromByteOffset: 4 &* index, as: SIMD8<UInt32>.self)
      index &+= 8
    }
    var rest: UInt32 = 0
    while index < sampleCount {
      rest |=
        samples.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
        ^ block.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
      index &+= 1
    }
    let halves = unsafeBitCast(differences.lowHalf | differences.highHalf, to: SIMD2<UInt64>.self)
    return halves[0] | halves[1] | UInt64(rest) == 0
  }
}

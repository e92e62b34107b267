/// A mapping of the channels of a stream to the channel order of WAV, which all other formats
/// share.
///
/// Vorbis and Opus have a different order for surround sound (Vorbis I specification, section
/// 4.3.9; RFC 7845, section 5.1.1.2): left, centre, right, the side and back channels, and the
/// low-frequency channel last.
struct ChannelOrder {
  /// The index of the stream's channel for each channel in WAV order.
  private let sources: [Int]
  /// Whether both orders are the same.
  private let isPlain: Bool

  /// Creates the mapping of a Vorbis stream with `channelCount` channels.
  init(vorbisChannels channelCount: Int) {
    let sources =
      switch channelCount {
      case 3: [0, 2, 1]
      case 5: [0, 2, 1, 3, 4]
      case 6: [0, 2, 1, 5, 3, 4]
      case 7: [0, 2, 1, 6, 5, 3, 4]
      case 8: [0, 2, 1, 7, 5, 6, 3, 4]
      // With more channels, the application defines the order.
      default: Array(0..<channelCount)
      }
    self.init(sources)
  }

  /// Creates the mapping for a file of `format`.
  init(_ format: FileFormat?, channelCount: Int) {
    switch format {
    case .ogg, .opus: self.init(vorbisChannels: channelCount)
    default: self.init(asIs: channelCount)
    }
  }

  /// Creates a mapping that keeps the order of the stream.
  init(asIs channelCount: Int) {
    self.init(Array(0..<channelCount))
  }

  private init(_ sources: [Int]) {
    self.sources = sources
    isPlain = sources == Array(0..<sources.count)
  }

  /// Returns the index of the stream's channel that becomes channel `index` in WAV order.
  func source(of index: Int) -> Int {
    sources[index]
  }

  /// Reorders interleaved frames from the order of the stream to WAV order, in place.
  func sort(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
    rearrange(samples, frames) { kept, place in
      for channel in sources.indices { place[channel] = kept[sources[channel]] }
    }
  }

  /// Reorders interleaved frames from WAV order to the order of the stream, in place.
  func restore(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
    rearrange(samples, frames) { kept, place in
      for channel in sources.indices { place[sources[channel]] = kept[channel] }
    }
  }

  @inline(__always)
  private func rearrange(
    _ samples: UnsafeMutablePointer<Float>, _ frames: Int,
    _ put: (UnsafeMutableBufferPointer<Float>, UnsafeMutablePointer<Float>) -> Void
  ) {
    guard !isPlain else { return }
    let channelCount = sources.count
    withUnsafeTemporaryAllocation(of: Float.self, capacity: channelCount) { kept in
      for frame in 0..<frames {
        let place = samples + frame * channelCount
        for channel in 0..<channelCount { kept[channel] = place[channel] }
        put(kept, place)
      }
    }
  }
}

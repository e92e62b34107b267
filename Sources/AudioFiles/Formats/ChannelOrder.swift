/// Mapping of a stream's channels to the order that all other files have, that of WAV.
///
/// Vorbis has an order of its own for surround sound, and Opus has the same (Vorbis I
/// specification, section 4.3.9; RFC 7845, section 5.1.1.2): left, centre, right, those at the
/// sides and in the back, the low frequencies last.
struct ChannelOrder {
  /// For each channel as WAV has them, which one of the stream it is.
  private let sources: [Int]
  /// Whether both orders are the same.
  private let isPlain: Bool

  /// That of Vorbis, for this number of channels.
  init(vorbisChannels channelCount: Int) {
    let sources =
      switch channelCount {
      case 3: [0, 2, 1]
      case 5: [0, 2, 1, 3, 4]
      case 6: [0, 2, 1, 5, 3, 4]
      case 7: [0, 2, 1, 6, 5, 3, 4]
      case 8: [0, 2, 1, 7, 5, 6, 3, 4]
      // Those of more channels mean what the maker says.
      default: Array(0..<channelCount)
      }
    self.init(sources)
  }

  /// That of a file of this format.
  init(_ format: FileFormat?, channelCount: Int) {
    switch format {
    case .ogg, .opus: self.init(vorbisChannels: channelCount)
    default: self.init(asIs: channelCount)
    }
  }

  /// As the stream has them.
  init(asIs channelCount: Int) {
    self.init(Array(0..<channelCount))
  }

  private init(_ sources: [Int]) {
    self.sources = sources
    isPlain = sources == Array(0..<sources.count)
  }

  /// Which channel of the stream becomes the channel `index`.
  func source(of index: Int) -> Int {
    sources[index]
  }

  /// Brings interleaved frames of the stream into the order of WAV.
  func sort(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
    rearrange(samples, frames) { kept, place in
      for channel in sources.indices { place[channel] = kept[sources[channel]] }
    }
  }

  /// Brings interleaved frames from the order of WAV into that of the stream.
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

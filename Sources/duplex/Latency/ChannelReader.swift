import AudioBasics
import AudioFiles

/// A stretch of a sound file, channel by channel, that moves along the file.
struct ChannelReader: ~Copyable {
  private let file: any SoundDecoder
  private var chunk: SampleBuffer

  /// The stretch: as many frames of each channel.
  private(set) var samples: [[Float]]

  /// Frames a second.
  var sampleRate: Int { file.sampleRate }

  init(_ path: String) throws {
    file = try Decoding.decoder(forPath: path)
    let channelCount = file.channelCount
    chunk = SampleBuffer(frameCount: 4096, channelCount: channelCount)
    samples = Array(repeating: [], count: channelCount)
  }

  /// Reads on until the stretch has `frames` frames, or the file ends. What is no number is silence.
  mutating func fill(to frames: Int) throws {
    while let count = samples.first?.count, count < frames {
      let read = try file.read(
        into: &chunk, at: 0, frames: min(chunk.frameCount, frames - count))
      guard read > 0 else { return }
      let channelCount = samples.count
      for channel in 0..<channelCount {
        for frame in 0..<read {
          let sample = chunk[frame * channelCount + channel]
          samples[channel].append(sample.isFinite ? sample : 0)
        }
      }
    }
  }

  /// Lets the first `frames` frames go.
  mutating func drop(_ frames: Int) {
    for channel in samples.indices {
      samples[channel].removeFirst(min(frames, samples[channel].count))
    }
  }
}

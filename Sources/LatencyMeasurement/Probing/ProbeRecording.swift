import AudioBasics
import AudioDevices
import RealtimeAudio

/// The samples played and captured since a probe was queued.
struct ProbeRecording: ~Copyable {
  private var ring: SampleReader
  private var gaps: EventReader<TimelineEvent>
  private var chunk: SampleBuffer
  private let captureChannels: Int
  /// The captured samples of each input channel.
  private(set) var captured: [[Float]]
  /// The played samples of one output channel.
  private(set) var played: [Float] = []
  /// The output channel from which `played` is recorded.
  var playedChannel = 0
  /// Whether frames are missing.
  private(set) var hasGap = false

  init(
    ring: consuming SampleReader, gaps: consuming EventReader<TimelineEvent>, captureChannels: Int,
    playbackChannels: Int
  ) {
    self.ring = ring
    self.gaps = gaps
    self.captureChannels = captureChannels
    chunk = SampleBuffer(frameCount: 1024, channelCount: captureChannels + playbackChannels)
    captured = Array(repeating: [], count: captureChannels)
  }

  /// Whether no more frames will come.
  var isFinished: Bool { ring.isFinished && ring.available == 0 }

  /// The first frame that was not silent, counted from the last `clear`.
  var firstPlayed: Int? { played.firstIndex { $0 != 0 } }

  /// The number of frames since the last `clear`.
  var frames: Int { played.count }

  /// Reads all available frames.
  mutating func drain() {
    while true {
      let count = ring.read(into: &chunk, frames: chunk.frameCount)
      while gaps.read() != nil { hasGap = true }
      guard count > 0 else { return }
      let width = chunk.channelCount
      for frame in 0..<count {
        for channel in 0..<captureChannels {
          captured[channel].append(chunk[frame * width + channel])
        }
        played.append(chunk[frame * width + captureChannels + playedChannel])
      }
    }
  }

  /// Discards all frames so far.
  mutating func clear() {
    for channel in captured.indices { captured[channel].removeAll(keepingCapacity: true) }
    played.removeAll(keepingCapacity: true)
    hasGap = false
  }
}

import AudioBasics
import RealtimeAudio

/// What was played and heard since a probe was queued, wound off the tape.
struct ProbeRecording: ~Copyable {
  private var tape: SampleReader
  private var gaps: EventReader
  private var chunk: SampleBuffer
  private let captureChannels: Int
  /// What each input channel heard.
  private(set) var heard: [[Float]]
  /// What one output channel played.
  private(set) var played: [Float] = []
  /// The output channel that `played` follows.
  var playedChannel = 0
  /// Whether frames are missing.
  private(set) var hasGap = false

  init(
    tape: consuming SampleReader, gaps: consuming EventReader, captureChannels: Int,
    playbackChannels: Int
  ) {
    self.tape = tape
    self.gaps = gaps
    self.captureChannels = captureChannels
    chunk = SampleBuffer(frameCount: 1024, channelCount: captureChannels + playbackChannels)
    heard = Array(repeating: [], count: captureChannels)
  }

  /// Whether nothing more will come.
  var isFinished: Bool { tape.isFinished && tape.available == 0 }

  /// The first frame that was not silent, counted from the last `clear`.
  var firstPlayed: Int? { played.firstIndex { $0 != 0 } }

  /// Frames since the last `clear`.
  var frames: Int { played.count }

  /// Takes off what there is.
  mutating func wind() {
    while true {
      let count = tape.read(into: &chunk, frames: chunk.frameCount)
      while gaps.read() != nil { hasGap = true }
      guard count > 0 else { return }
      let width = chunk.channelCount
      for frame in 0..<count {
        for channel in 0..<captureChannels {
          heard[channel].append(chunk[frame * width + channel])
        }
        played.append(chunk[frame * width + captureChannels + playedChannel])
      }
    }
  }

  /// Forgets all so far.
  mutating func clear() {
    for channel in heard.indices { heard[channel].removeAll(keepingCapacity: true) }
    played.removeAll(keepingCapacity: true)
    hasGap = false
  }
}

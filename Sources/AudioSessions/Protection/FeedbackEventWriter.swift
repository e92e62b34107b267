// Audio thread.
import AudioBasics
import RealtimeAudio

/// The audio thread's half of telling what a feedback guard does. What finds no room is not told.
public struct FeedbackEventWriter: ~Copyable {
  static let width = 4
  private var ring = SampleWriter(frameCount: 64, channelCount: FeedbackEventWriter.width)
  private var item = SampleBuffer(frameCount: 1, channelCount: FeedbackEventWriter.width)
  private let sampleRate: Int

  /// News of sound at this rate.
  public init(sampleRate: Int) {
    self.sampleRate = sampleRate
  }

  /// The half that shows. Ask once.
  public borrowing func makeReader() -> FeedbackEventReader {
    FeedbackEventReader(ring.makeReader(), sampleRate: sampleRate)
  }

  @_noLocks
  mutating func emit(isDucked: Bool, pitchCosine: Float, at frame: Int) {
    item[0] = isDucked ? 0 : 1
    // A float holds 24 bits: the frame goes in two parts.
    item[1] = Float(frame >> 16)
    item[2] = Float(frame & 0xFFFF)
    item[3] = pitchCosine
    _ = ring.write(item, frames: 1)
  }
}

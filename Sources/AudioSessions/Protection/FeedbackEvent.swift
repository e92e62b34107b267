import AudioBasics
import Glibc
import RealtimeAudio

/// What a feedback guard did.
public struct FeedbackEvent: Sendable, Equatable {
  /// The two things it does.
  public enum State: Int, Sendable {
    /// It lowered the microphone.
    case ducked
    /// It gives it back, softly.
    case released
  }

  /// What it did.
  public let state: State
  /// Where on the timeline.
  public let frame: Int
  /// The howl's pitch in Hz, as well as it could be told.
  public let frequencyHz: Double
}

/// The half that shows what a feedback guard does. Any one thread.
public struct FeedbackEventReader: ~Copyable {
  private var ring: SampleReader
  private var item = SampleBuffer(frameCount: 1, channelCount: FeedbackEventWriter.width)
  private let lookRate: Double

  init(_ ring: consuming SampleReader, sampleRate: Int) {
    self.ring = ring
    lookRate = Double(sampleRate) / Double(max(1, sampleRate / 20000))
  }

  /// The oldest thing not told yet.
  public mutating func next() -> FeedbackEvent? {
    guard ring.read(into: &item, frames: 1) == 1,
      let state = FeedbackEvent.State(rawValue: Int(clamping: item[0]))
    else { return nil }
    let angle = acos(Double(min(1, max(-1, item[3]))))
    return FeedbackEvent(
      state: state, frame: Int(clamping: item[1]) * 65536 + Int(clamping: item[2]),
      frequencyHz: angle * lookRate / (2 * .pi))
  }
}

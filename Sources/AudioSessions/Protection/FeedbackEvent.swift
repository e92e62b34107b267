// Audio thread.

import Glibc
import RealtimeAudio

/// An event of a feedback suppressor: it lowered the microphone, or gives it back.
public struct FeedbackEvent: Sendable, Equatable {
  /// The two things it does.
  public enum State: BitwiseCopyable, Sendable {
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

/// The same with the pitch as the audio thread knows it: the cosine of the angle that its phase
/// turns by from one frame that is looked at to the next.
struct FeedbackMark: BitwiseCopyable, Sendable {
  let state: FeedbackEvent.State
  let frame: Int
  let pitchCosine: Float
}

/// The audio thread's half of telling what a feedback suppressor does. What finds no room is not
/// told.
public struct FeedbackEventWriter: ~Copyable {
  private var ring = EventWriter<FeedbackMark>()
  private let sampleRate: Int

  /// A writer for sound at `sampleRate` Hz.
  public init(sampleRate: Int) {
    self.sampleRate = sampleRate
  }

  /// The half that shows. Ask once.
  public borrowing func makeReader() -> FeedbackEventReader {
    FeedbackEventReader(ring.makeReader(), sampleRate: sampleRate)
  }

  @_noLocks
  mutating func emit(_ state: FeedbackEvent.State, pitchCosine: Float, at frame: Int) {
    _ = ring.write(FeedbackMark(state: state, frame: frame, pitchCosine: pitchCosine))
  }
}

/// The half that shows what a feedback suppressor does. Any one thread.
public struct FeedbackEventReader: ~Copyable {
  private var ring: EventReader<FeedbackMark>
  private let lookRate: Double

  init(_ ring: consuming EventReader<FeedbackMark>, sampleRate: Int) {
    self.ring = ring
    lookRate = Double(sampleRate) / Double(HopLevels.stride(sampleRate))
  }

  /// The oldest thing not told yet.
  public mutating func next() -> FeedbackEvent? {
    guard let mark = ring.read() else { return nil }
    let angle = acos(Double(min(1, max(-1, mark.pitchCosine))))
    return FeedbackEvent(
      state: mark.state, frame: mark.frame, frequencyHz: angle * lookRate / (2 * .pi))
  }
}

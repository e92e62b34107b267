// Audio thread.

import Glibc
import RealtimeAudio

/// An event of a feedback suppressor: it lowered the microphone, or it restores the gain.
public struct FeedbackEvent: Sendable, Equatable {
  /// The two actions of a suppressor.
  public enum State: BitwiseCopyable, Sendable {
    /// The microphone was lowered.
    case ducked
    /// The gain is being restored slowly.
    case released
  }

  /// The action.
  public let state: State
  /// The frame of the timeline at which it happened.
  public let frame: Int
  /// The estimated pitch of the howl in Hz.
  public let frequencyHz: Double
}

/// The same event with the pitch as the audio thread measures it: the cosine of the phase angle
/// from one analysed frame to the next.
struct FeedbackMark: BitwiseCopyable, Sendable {
  let state: FeedbackEvent.State
  let frame: Int
  let pitchCosine: Float
}

/// The writing end of the events of a feedback suppressor, for the audio thread. An event for which
/// there is no room is dropped.
public struct FeedbackEventWriter: ~Copyable {
  private var ring = EventWriter<FeedbackMark>()
  private let sampleRate: Int

  /// Creates a writer for sound at `sampleRate` Hz.
  public init(sampleRate: Int) {
    self.sampleRate = sampleRate
  }

  /// Returns the reading end. Must be called only once.
  public borrowing func makeReader() -> FeedbackEventReader {
    FeedbackEventReader(ring.makeReader(), sampleRate: sampleRate)
  }

  @_noLocks
  mutating func emit(_ state: FeedbackEvent.State, pitchCosine: Float, at frame: Int) {
    _ = ring.write(FeedbackMark(state: state, frame: frame, pitchCosine: pitchCosine))
  }
}

/// The reading end of the events of a feedback suppressor. Any one thread.
public struct FeedbackEventReader: ~Copyable {
  private var ring: EventReader<FeedbackMark>
  private let analysisRate: Double

  init(_ ring: consuming EventReader<FeedbackMark>, sampleRate: Int) {
    self.ring = ring
    analysisRate = Double(sampleRate) / Double(HopLevels.stride(sampleRate))
  }

  /// Returns the oldest event not returned yet; nil if there is none.
  public mutating func next() -> FeedbackEvent? {
    guard let mark = ring.read() else { return nil }
    let angle = acos(Double(min(1, max(-1, mark.pitchCosine))))
    return FeedbackEvent(
      state: mark.state, frame: mark.frame, frequencyHz: angle * analysisRate / (2 * .pi))
  }
}

// Audio thread.

import AudioBasics
import Glibc
import RealtimeAudio

/// The audio thread's half of telling what a feedback suppressor does. What finds no room is not
/// told.
public struct FeedbackEventWriter: ~Copyable {
  static let width = 4
  private var ring = SampleWriter(frameCount: 64, channelCount: FeedbackEventWriter.width)
  private var item = SampleBuffer(frameCount: 1, channelCount: FeedbackEventWriter.width)
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
  mutating func emit(isDucked: Bool, pitchCosine: Float, at frame: Int) {
    item[0] = isDucked ? 0 : 1
    // A float holds 24 bits: the frame goes in two parts.
    item[1] = Float(frame >> 16)
    item[2] = Float(frame & 0xFFFF)
    item[3] = pitchCosine
    _ = ring.write(item, frames: 1)
  }
}

/// What a feedback suppressor did.
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

/// The half that shows what a feedback suppressor does. Any one thread.
public struct FeedbackEventReader: ~Copyable {
  private var ring: SampleReader
  private var item = SampleBuffer(frameCount: 1, channelCount: FeedbackEventWriter.width)
  private let lookRate: Double

  init(_ ring: consuming SampleReader, sampleRate: Int) {
    self.ring = ring
    lookRate = Double(sampleRate) / Double(HopLevels.stride(sampleRate))
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

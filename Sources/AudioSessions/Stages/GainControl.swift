import AudioBasics
import RealtimeAudio

/// Asks the audio thread for a gain. One thread at a time, which is not the audio thread.
public struct GainControl: ~Copyable {
  private var wanted = AtomicCounter()
  private var count = 0

  /// A control that has asked for nothing yet.
  public init() {}

  /// The end for the audio thread, at `sampleRate` frames a second.
  public borrowing func makeRequest(at sampleRate: Int) -> GainRequest {
    GainRequest(wanted.makeView(), sampleRate: sampleRate)
  }

  /// Asks for `gain`. The audio thread moves to it in 10 ms.
  public mutating func set(_ gain: Gain) {
    // Counted, so that the same gain asked for again is a request of its own.
    count += 1
    wanted.publish(count << 32 | Int(gain.factor.bitPattern))
  }
}

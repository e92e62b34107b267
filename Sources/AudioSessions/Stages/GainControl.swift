// Audio thread.
import AudioBasics
import RealtimeAudio

/// The audio thread's end of a gain that another thread changes while sound runs.
public struct GainRequest: ~Copyable {
  /// Frames that the gain takes to move: 10 ms.
  fileprivate let glideFrames: Int
  private let wanted: CountView
  private var taken = 0

  init(_ wanted: consuming CountView, sampleRate: Int) {
    self.wanted = wanted
    glideFrames = max(1, sampleRate / 100)
  }

  /// The gain that was asked for since the last time; nil where none was.
  @_noLocks
  fileprivate mutating func take() -> Gain? {
    let value = wanted.value
    guard value != taken else { return nil }
    taken = value
    return Gain(factor: Float(bitPattern: UInt32(truncatingIfNeeded: value)))
  }
}

extension SmoothedGain {
  /// Ten milliseconds from silence to `gain`: too slow to click, too fast to miss a word.
  @_noLocks
  package static func fadeIn(to gain: Gain, at sampleRate: Int) -> SmoothedGain {
    SmoothedGain(fadingInTo: gain, frames: sampleRate / 100)
  }

  /// Moves to the gain that was asked for since the last time, and answers with it; nil where none was.
  @_noLocks
  mutating func follow(_ request: inout GainRequest?) -> Gain? {
    guard let gain = request?.take() ?? nil else { return nil }
    glide(to: gain, frames: request?.glideFrames ?? 1)
    return gain
  }
}

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

// Audio thread.

import AudioBasics
import AudioLevels
import RealtimeAudio

/// The audio thread's half of what is known of an output's levels: counts frames beyond full scale and finds the
/// true peak, and publishes both (`OutputMeterView`).
public struct OutputMeter: MixerStage, ~Copyable {
  private var levels: OutputLevels
  private var clippedFrames = AtomicCounter()
  private var peakBits = AtomicCounter()

  /// A meter of an output that has played nothing.
  public init(sampleRate: Int, channelCount: Int) {
    levels = OutputLevels(sampleRate: sampleRate, channelCount: channelCount)
  }

  /// The half that tells.
  public borrowing func makeView() -> OutputMeterView {
    OutputMeterView(
      clippedFrames: clippedFrames.makeView(), peakBits: peakBits.makeView())
  }

  /// Looks at the frames of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    levels.add(bus.buffer, frames: bus.frames)
    clippedFrames.publish(levels.clippedFrames)
    peakBits.publish(Int(levels.truePeak.bitPattern))
  }
}

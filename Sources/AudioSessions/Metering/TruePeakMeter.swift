// Audio thread.

import AudioBasics
import AudioLevels
import RealtimeAudio

/// The audio thread's half of an output's level statistics: counts frames beyond full scale, finds
/// the true peak, and publishes both (`TruePeakMeterView`).
public struct TruePeakMeter: MixerStage, ~Copyable {
  private var levels: OutputLevels
  private var clippedFrames = PublishedValue()
  private var peakBits = PublishedValue()

  /// Creates a meter of an output that has played nothing.
  public init(sampleRate: Int, channelCount: Int) {
    levels = OutputLevels(sampleRate: sampleRate, channelCount: channelCount)
  }

  /// Returns a view of this meter for any thread.
  public borrowing func makeView() -> TruePeakMeterView {
    TruePeakMeterView(
      clippedFrames: clippedFrames.makeView(), peakBits: peakBits.makeView())
  }

  /// Measures the frames of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    levels.add(bus.buffer, frames: bus.frames)
    clippedFrames.publish(levels.clippedFrames)
    peakBits.publish(Int(levels.truePeak.bitPattern))
  }
}

/// The results of a `TruePeakMeter` so far: clipped frames and true peak. Any thread.
public struct TruePeakMeterView: ~Copyable, Sendable {
  private let clippedFramesView: PublishedValueView
  private let peakBits: PublishedValueView

  init(clippedFrames: consuming PublishedValueView, peakBits: consuming PublishedValueView) {
    clippedFramesView = clippedFrames
    self.peakBits = peakBits
  }

  /// The number of frames with at least one sample beyond full scale.
  public var clippedFrames: Int { clippedFramesView.value }

  /// The highest true peak, in dBTP.
  public var truePeakDBTP: Double {
    Decibels.level(Float(bitPattern: UInt32(truncatingIfNeeded: peakBits.value)))
  }
}

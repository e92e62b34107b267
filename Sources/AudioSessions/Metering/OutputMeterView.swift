import AudioBasics
import RealtimeAudio

/// What an `OutputMeter` has found so far. Any thread.
public struct OutputMeterView: ~Copyable, Sendable {
  private let clippedFramesView: CountView
  private let peakBits: CountView

  init(clippedFrames: consuming CountView, peakBits: consuming CountView) {
    clippedFramesView = clippedFrames
    self.peakBits = peakBits
  }

  /// Frames of which at least one sample was beyond full scale.
  public var clippedFrames: Int { clippedFramesView.value }

  /// The highest true peak, in dBTP.
  public var truePeakDBTP: Double {
    Decibels.level(Float(bitPattern: UInt32(truncatingIfNeeded: peakBits.value)))
  }
}

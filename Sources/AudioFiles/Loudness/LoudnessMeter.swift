import AudioBasics
import CEbur128

/// How loud a programme is: integrated loudness by ITU-R BS.1770 and EBU R 128, and the highest
/// sample of each channel.
///
/// Takes the same memory for a second as for a day. One thread at a time, never the audio thread.
public struct LoudnessMeter: ~Copyable, @unchecked Sendable {
  // @unchecked because the state has one owner, which moves with the value.
  /// nil for rates and channels the standard has no filter for: then peaks are all there is.
  private let state: UnsafeMutablePointer<ebur128_state>?
  private let channelCount: Int

  /// Each channel's highest magnitude so far, exactly; full scale is 1.
  public private(set) var samplePeaks: [Float]

  /// A meter that has heard nothing.
  public init(sampleRate: Int, channelCount: Int) {
    self.channelCount = max(0, channelCount)
    samplePeaks = Array(repeating: 0, count: self.channelCount)
    // A histogram in place of every block's energy: accurate to 0.1 LU, and it never grows.
    let mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_HISTOGRAM.rawValue
    state =
      (1...64).contains(channelCount) && (16...2_822_400).contains(sampleRate)
      ? ebur128_init(UInt32(channelCount), UInt(sampleRate), Int32(mode)) : nil
  }

  deinit {
    var state = state
    if state != nil { ebur128_destroy(&state) }
  }

  /// Hears `frames` frames of `buffer` from `firstFrame` on.
  public mutating func add(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int
  ) {
    precondition(buffer.channelCount == channelCount)
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame + frames <= buffer.frameCount)
    let samples = UnsafePointer(buffer.base + firstFrame * channelCount)
    // The filters never forget what is no number: such frames are left out.
    guard raisePeaks(samples, frames: frames), let state else { return }
    ebur128_add_frames_float(state, samples, frames)
  }

  /// Loudness of all that was heard, in LUFS; nil when nothing was loud enough to count.
  public var integratedLUFS: Double? {
    var loudness = 0.0
    guard let state, ebur128_loudness_global(state, &loudness) == 0, loudness.isFinite else {
      return nil
    }
    return loudness
  }

  /// Returns whether every sample is a finite number.
  private mutating func raisePeaks(_ samples: UnsafePointer<Float>, frames: Int) -> Bool {
    // Zero as long as all are finite.
    var doubt: Float = 0
    for channel in 0..<channelCount {
      var peak = samplePeaks[channel]
      for frame in 0..<frames {
        let sample = samples[frame * channelCount + channel]
        doubt += sample * 0
        if abs(sample) > peak { peak = abs(sample) }
      }
      samplePeaks[channel] = peak
    }
    return doubt == 0
  }
}

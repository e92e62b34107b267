import AudioBasics

/// What an output has reached so far.
struct OutputFigures: Sendable, Equatable {
  /// The number of frames that the limiter lowered.
  var limitedFrames = 0
  /// The number of frames with a sample beyond full scale.
  var clippedFrames = 0
  /// The highest true peak in dBTP; nil if it is not measured.
  var truePeakDBTP: Double?

  /// Returns the figures of this output and of `next`, which was used after it.
  func followed(by next: OutputFigures) -> OutputFigures {
    OutputFigures(
      limitedFrames: limitedFrames + next.limitedFrames,
      clippedFrames: clippedFrames + next.clippedFrames,
      truePeakDBTP: [truePeakDBTP, next.truePeakDBTP].compactMap { $0 }.max())
  }
}

/// The frames and seconds of a run on the devices that are no longer used. Their sample rates may
/// differ, while the frames of a run are counted continuously.
struct RunProgress: Sendable, Equatable {
  /// The number of frames of all of these devices.
  private(set) var frames = 0
  /// The duration of these frames in seconds, each at the rate of its device.
  private(set) var seconds = 0.0

  /// Adds the use of a device with `sampleRate` Hz up to the frame `frame` of the run.
  mutating func advance(toFrame frame: Int, sampleRate: Int) {
    seconds = seconds(atFrame: frame, sampleRate: sampleRate)
    frames = frame
  }

  /// Returns the time in seconds of a frame of the run, on a device with `sampleRate` Hz that is
  /// used after these devices; for a rate of 0, the seconds of these devices.
  func seconds(atFrame frame: Int, sampleRate: Int) -> Double {
    sampleRate > 0 ? seconds + Double(frame - frames) / Double(sampleRate) : seconds
  }

  /// Returns the frame of the run that a device with `sampleRate` Hz, used after these devices,
  /// reaches at `second`. The result is never before the first frame of that device, which is also
  /// the result if `second` is not a number (NaN).
  func frame(atSecond second: Double, sampleRate: Int) -> Int {
    let rest = max(0, second.isNaN ? 0 : second - seconds) * Double(sampleRate)
    return Int(clamping: (Double(frames) + rest).rounded())
  }
}

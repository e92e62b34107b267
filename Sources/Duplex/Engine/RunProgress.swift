import AudioBasics

/// The frames and seconds of a run with devices that are not used any more. Their rates may differ,
/// while the frames of a run are counted on.
struct RunProgress: Sendable, Equatable {
  /// Frames of all of them together.
  private(set) var frames = 0
  /// The same in seconds, each at the rate of its device.
  private(set) var seconds = 0.0

  /// A device of `sampleRate` Hz was used up to that frame of the run.
  mutating func advance(toFrame frame: Int, sampleRate: Int) {
    seconds = seconds(atFrame: frame, sampleRate: sampleRate)
    frames = frame
  }

  /// Seconds of the run at a frame of a device of `sampleRate` Hz that is used behind all of them;
  /// 0 where there is none.
  func seconds(atFrame frame: Int, sampleRate: Int) -> Double {
    sampleRate > 0 ? seconds + Double(frame - frames) / Double(sampleRate) : seconds
  }

  /// The frame of the run at which a device of `sampleRate` Hz, used behind all of them, comes to
  /// `second`: not before the first that it has, nor where `second` is no number.
  func frame(atSecond second: Double, sampleRate: Int) -> Int {
    let rest = max(0, second.isNaN ? 0 : second - seconds) * Double(sampleRate)
    return Int(clamping: (Double(frames) + rest).rounded())
  }
}

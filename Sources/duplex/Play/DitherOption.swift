import ArgumentParser
import AudioBasics
import AudioDevices

/// `--dither`: whether what an output of 16 bits rounds gets noise first.
enum DitherOption: String, ExpressibleByArgument, CaseIterable {
  /// Not where bits pass unchanged.
  case auto
  case on
  case off

  /// The stage that adds it, for the output of `configuration`; nil where none does. Where a converter of
  /// rates follows, or the output has more bits, rounding is not heard.
  func stage(for configuration: DuplexConfiguration) -> Dither? {
    guard self != .off, !configuration.isResampling,
      configuration.playback?.format.byteCount == 2
    else { return nil }
    return Dither(isUnconditional: self == .on)
  }
}

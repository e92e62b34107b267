import ArgumentParser
import AudioBasics
import AudioDevices

/// `--dither`: whether samples are dithered before an output of 16 bits rounds them.
enum DitherOption: String, ExpressibleByArgument, CaseIterable {
  /// Only where a sample needs rounding.
  case auto
  case on
  case off

  /// The dither of the output of `configuration`; nil where there is none: the output has more than 16 bits,
  /// or its rate is converted afterwards.
  func stage(for configuration: DuplexConfiguration) -> Dither? {
    guard self != .off, !configuration.isResampling,
      configuration.playback?.format.byteCount == 2
    else { return nil }
    return Dither(isUnconditional: self == .on)
  }
}

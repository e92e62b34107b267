import ArgumentParser
import AudioBasics

/// How a device keeps samples, as `arecord` names it: an ALSA format, or `cd` and `dat`, which name a
/// rate and channels as well.
struct FormatOption: ExpressibleByArgument {
  let format: SampleFormat
  private(set) var sampleRate: Int?
  private(set) var channelCount: Int?

  init?(argument: String) {
    switch argument.lowercased() {
    case "cd": (format, sampleRate, channelCount) = (.s16LE, 44100, 2)
    case "dat": (format, sampleRate, channelCount) = (.s16LE, 48000, 2)
    default:
      guard let format = SampleFormat(name: argument) else { return nil }
      self.format = format
    }
  }

  static var allValueStrings: [String] { SampleFormat.allCases.map(\.name) + ["cd", "dat"] }
}

/// Frames a second: `48000`, `48k`, `44.1k`.
struct RateOption: ExpressibleByArgument {
  let hertz: Int

  init(_ hertz: Int) { self.hertz = hertz }

  init?(argument: String) {
    guard let hertz = WrittenNumber.wholeHertz(argument) else { return nil }
    self.hertz = hertz
  }
}

/// A frequency: `80`, `1.2k`.
struct FrequencyOption: ExpressibleByArgument {
  let hertz: Double

  init?(argument: String) {
    guard let hertz = WrittenNumber.hertz(argument) else { return nil }
    self.hertz = hertz
  }
}

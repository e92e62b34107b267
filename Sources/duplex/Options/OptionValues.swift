import ArgumentParser
import AudioBasics
import AudioDevices
import AudioSessions

/// The sample format of a device, with the names that `arecord` uses: an ALSA format, or `cd` and
/// `dat`, which include a rate and a number of channels.
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

  /// Returns the options that `option` also sets if it has this `value`: --format may set a rate
  /// and a number of channels.
  static func optionsSet(by option: String, _ value: String) -> [String] {
    guard option == "format", FormatOption(argument: value)?.sampleRate != nil else { return [] }
    return ["rate", "channels"]
  }
}

/// Channels of a device, by their numbers from 1: `3,4`.
struct ChannelListOption: ExpressibleByArgument {
  let channels: [Int]

  init?(argument: String) {
    let numbers = argument.split(separator: ",", omittingEmptySubsequences: false)
      .map { NumberParser.whole($0) }
    channels = numbers.compactMap { $0 }
    guard channels.count == numbers.count,
      DuplexRequest.channelRange.contains(channels.count),
      channels.allSatisfy(ChannelSelection.numbers.contains)
    else { return nil }
  }
}

/// A sample rate in Hz: `48000`, `48k`, `44.1k`.
struct RateOption: ExpressibleByArgument {
  let hertz: Int

  init(_ hertz: Int) { self.hertz = hertz }

  init?(argument: String) {
    guard let hertz = NumberParser.wholeHertz(argument) else { return nil }
    self.hertz = hertz
  }
}

/// A frequency: `80`, `1.2k`.
struct FrequencyOption: ExpressibleByArgument {
  let hertz: Double

  init?(argument: String) {
    guard let hertz = NumberParser.hertz(argument) else { return nil }
    self.hertz = hertz
  }
}

/// A time on the command line.
typealias TimeOption = ParsedTime

extension ParsedTime: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }

  package var defaultValueDescription: String {
    switch self {
    case .seconds(let seconds): seconds.shown(2) + "s"
    case .frames(let frames): frames.shown(2) + "f"
    }
  }
}

/// A number of bytes: `500k`, `100M`, `2G`, `1.5GiB`; k, M and G are powers of 1000, KiB, MiB and
/// GiB powers of 1024.
struct ByteSize: Equatable {
  let count: Int

  init?(_ argument: String) {
    let number = argument.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let units: [String: Double] = [
      "b": 1, "k": 1e3, "kb": 1e3, "kib": 1024, "m": 1e6, "mb": 1e6, "mib": 1_048_576,
      "g": 1e9, "gb": 1e9, "gib": 1_073_741_824, "t": 1e12, "tb": 1e12, "tib": 1_099_511_627_776,
    ]
    // A lower-case m could mean minutes.
    guard let value = NumberParser.decimal(number),
      let unit = units[argument.dropFirst(number.count).lowercased()], !argument.hasSuffix("m"),
      value * unit < 1e18
    else { return nil }
    count = Int(clamping: value * unit)
  }
}

/// The rule for the start of the next file of a recording: a size, a time or a pause.
enum SplitOption: ExpressibleByArgument, Equatable {
  case bytes(Int)
  case time(TimeOption)
  case silence

  init?(argument: String) {
    if argument == "silence" {
      self = .silence
    } else if let time = TimeOption(argument: argument) {
      self = .time(time)
    } else if let size = ByteSize(argument) {
      self = .bytes(size.count)
    } else {
      return nil
    }
  }
}

/// The limit on the files that are kept: their number, their size, or an age written with a unit or
/// a colon: `24h`, `7d`, `10:00`.
extension KeepRule: ExpressibleByArgument {
  /// Parses the rule in the user's `argument`; nil if it is not a rule.
  public init?(argument: String) {
    if let count = NumberParser.whole(argument) {
      self = .files(count)
    } else if case .seconds(let seconds)? = TimeOption(argument),
      NumberParser.decimal(argument) == nil
    {
      self = .seconds(seconds)
    } else if let size = ByteSize(argument) {
      self = .bytes(size.count)
    } else {
      return nil
    }
  }
}

/// A decimal number: `92.5`.
struct DecimalOption: ExpressibleByArgument {
  let value: Double

  init(_ value: Double) { self.value = value }

  init?(argument: String) {
    guard let value = NumberParser.decimal(argument) else { return nil }
    self.value = value
  }

  var defaultValueDescription: String { value.shown(2) }
}

/// A gain in dB, as a plain number: `-6`.
extension Gain: ExpressibleByArgument {
  /// Parses a gain as it is written on the command line; nil if it is not a gain.
  public init?(argument: String) { self.init(argument) }
  /// The gain in dB, rounded to a whole number.
  public var defaultValueDescription: String { "\(Int(rounding: decibels))" }
}

/// A level in dBFS, as a plain number: `-12`.
struct LevelOption: ExpressibleByArgument {
  /// The levels up to full scale, in dBFS.
  static let decibelRange = Gain.decibelRange.lowerBound...0

  let decibels: Double

  init(_ decibels: Double) {
    self.decibels = decibels
  }

  init?(argument: String) {
    guard let decibels = NumberParser.decimal(argument), Gain.decibelRange.contains(decibels)
    else {
      return nil
    }
    self.decibels = decibels
  }

  var defaultValueDescription: String { "\(Int(clamping: decibels))" }
}

/// A volume of a card's mixer: `80%` of its range, or `-6`, in dB.
struct VolumeOption: ExpressibleByArgument {
  let volume: MixerVolume

  init?(argument: String) {
    if argument.hasSuffix("%") {
      guard let percent = NumberParser.decimal(argument.dropLast()),
        MixerVolume.percentages.contains(percent)
      else { return nil }
      volume = .percent(percent)
    } else {
      guard let decibels = NumberParser.decimal(argument), Gain.decibelRange.contains(decibels)
      else {
        return nil
      }
      volume = .decibels(decibels)
    }
  }
}

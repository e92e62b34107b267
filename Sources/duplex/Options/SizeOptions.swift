import ArgumentParser
import AudioBasics

/// A number of bytes: `500k`, `100M`, `2G`, `1.5GiB`; k, M and G are powers of 1000, KiB, MiB and
/// GiB of 1024.
struct ByteSize: Equatable {
  let count: Int

  init?(_ argument: String) {
    let number = argument.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let units: [String: Double] = [
      "b": 1, "k": 1e3, "kb": 1e3, "kib": 1024, "m": 1e6, "mb": 1e6, "mib": 1_048_576,
      "g": 1e9, "gb": 1e9, "gib": 1_073_741_824, "t": 1e12, "tb": 1e12, "tib": 1_099_511_627_776,
    ]
    // A small m could be taken for minutes.
    guard let value = WrittenNumber.decimal(number),
      let unit = units[argument.dropFirst(number.count).lowercased()], !argument.hasSuffix("m"),
      value * unit < 1e18
    else { return nil }
    count = Int(clamping: value * unit)
  }
}

/// When the next file begins: a size, a time or a pause.
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

/// How much is kept: a number of files, a size or an age.
enum KeepOption: ExpressibleByArgument, Equatable {
  case files(Int)
  case bytes(Int)
  /// An age, whose unit is named: `24h`, `7d`, `10:00`.
  case seconds(Double)

  init?(argument: String) {
    if let count = WrittenNumber.whole(argument) {
      self = .files(count)
    } else if case .seconds(let seconds)? = TimeOption(argument),
      WrittenNumber.decimal(argument) == nil
    {
      self = .seconds(seconds)
    } else if let size = ByteSize(argument) {
      self = .bytes(size.count)
    } else {
      return nil
    }
  }
}

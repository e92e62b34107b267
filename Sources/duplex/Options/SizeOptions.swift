import ArgumentParser

/// A number of seconds, with or without an `s` behind it: `5`, `0.5s`.
struct SecondsOption: ExpressibleByArgument {
  let seconds: Double

  init(_ seconds: Double) {
    self.seconds = seconds
  }

  init?(argument: String) {
    let number = argument.hasSuffix("s") ? argument.dropLast() : argument[...]
    guard let first = number.first, first.isNumber || first == ".", let seconds = Double(number),
      seconds.isFinite, seconds < 1e9
    else { return nil }
    self.seconds = seconds
  }

  var defaultValueDescription: String { seconds.shown(2) }
}

/// A number of bytes: `500k`, `100M`, `2G`, `1.5GiB`; k, M and G are powers of 1000, KiB, MiB and
/// GiB of 1024.
struct ByteSize: Equatable {
  let count: Int

  init?(_ argument: String) {
    let number = argument.prefix { $0.isNumber || $0 == "." }
    let units: [String: Double] = [
      "b": 1, "k": 1e3, "kb": 1e3, "kib": 1024, "m": 1e6, "mb": 1e6, "mib": 1_048_576,
      "g": 1e9, "gb": 1e9, "gib": 1_073_741_824, "t": 1e12, "tb": 1e12, "tib": 1_099_511_627_776,
    ]
    // A small m could be taken for minutes.
    guard let value = Double(number), value.isFinite,
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
  case seconds(Double)

  init?(argument: String) {
    if let count = Int(argument) {
      self = .files(count)
    } else if let seconds = Self.age(argument) {
      self = .seconds(seconds)
    } else if let size = ByteSize(argument) {
      self = .bytes(size.count)
    } else {
      return nil
    }
  }

  /// `90min`, `24h`, `7d`, or a time with colons.
  private static func age(_ argument: String) -> Double? {
    if argument.contains(":"), case .seconds(let seconds)? = TimeOption(argument: argument) {
      return seconds
    }
    for (unit, seconds) in [("min", 60.0), ("h", 3600), ("d", 86400), ("w", 604_800), ("s", 1)] {
      guard argument.hasSuffix(unit), let number = Double(argument.dropLast(unit.count)) else {
        continue
      }
      return number.isFinite && number < 1e6 ? number * seconds : nil
    }
    return nil
  }
}

import ArgumentParser

/// A file to mix in, with its gain: FILE or FILE:DB.
struct MixOption: ExpressibleByArgument {
  let path: String
  let level: DecibelOption

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // Only a number behind the last colon is a gain: names may have colons of their own.
    if let colon = argument.lastIndex(of: ":"), colon != argument.startIndex,
      Double(argument[argument.index(after: colon)...]) != nil
    {
      guard
        let level = DecibelOption(argument: String(argument[argument.index(after: colon)...]))
      else { return nil }
      path = String(argument[..<colon])
      self.level = level
    } else {
      path = argument
      level = DecibelOption(0)
    }
  }
}

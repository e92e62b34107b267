import ArgumentParser
import AudioBasics

/// A file to mix in, with its gain: FILE or FILE:DB.
struct MixOption: ExpressibleByArgument {
  let path: String
  let level: DecibelOption

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // Only a number behind the last colon is a gain: names may have colons of their own, and addresses
    // have them before a port.
    let host = SourceAddress.isRemote(argument) ? argument.firstIndex(of: "/") : nil
    let name = host.map { argument[argument.index($0, offsetBy: 2)...] } ?? argument[...]
    let isHost = host != nil && !name.contains("/")
    if !isHost, let colon = argument.lastIndex(of: ":"), colon != argument.startIndex,
      WrittenNumber.decimal(argument[argument.index(after: colon)...]) != nil
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

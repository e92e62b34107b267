import ArgumentParser

/// A file to mix in, with its gain: FILE or FILE:DB.
struct MixOption: ExpressibleByArgument {
  let path: String
  let gainDB: Double

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // Only a number behind the last colon is a gain: names may have colons of their own.
    if let colon = argument.lastIndex(of: ":"), colon != argument.startIndex,
      let gain = Double(argument[argument.index(after: colon)...]), gain.isFinite
    {
      path = String(argument[..<colon])
      gainDB = gain
    } else {
      path = argument
      gainDB = 0
    }
  }
}

import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions

/// A file to mix in, with its gain: FILE or FILE:DB.
struct MixOption: ExpressibleByArgument {
  let path: String
  let gain: Gain

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // Only a number after the last colon is a gain: file names may contain colons, and addresses
    // have one before a port.
    let host = SourceAddress.isRemote(argument) ? argument.firstIndex(of: "/") : nil
    let name = host.map { argument[argument.index($0, offsetBy: 2)...] } ?? argument[...]
    let isHost = host != nil && !name.contains("/")
    // A file may have this name.
    if !isHost, !SoundFileReader.exists(argument),
      let colon = argument.lastIndex(of: ":"), colon != argument.startIndex,
      NumberParser.decimal(argument[argument.index(after: colon)...]) != nil
    {
      guard let gain = Gain(argument[argument.index(after: colon)...]) else { return nil }
      path = String(argument[..<colon])
      self.gain = gain
    } else {
      path = argument
      gain = .unity
    }
  }
}

/// The format of raw samples without a header: `S16_LE,44100,2`, `cd` or `dat`.
struct RawOption: ExpressibleByArgument {
  let format: SampleFormat
  let sampleRate: Int
  let channelCount: Int

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard let format = parts.first.flatMap({ FormatOption(argument: String($0)) }),
      parts.count == 3 || (parts.count == 1 && format.channelCount != nil),
      let sampleRate = parts.count == 3 ? NumberParser.wholeHertz(parts[1]) : format.sampleRate,
      (1000...1_536_000).contains(sampleRate),
      let channelCount = parts.count == 3 ? NumberParser.whole(parts[2]) : format.channelCount,
      (1...SampleBuffer.maximumChannels).contains(channelCount)
    else { return nil }
    self.format = format.format
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Returns the decoder of the raw samples at `path`, or at standard input if `path` is `-`. Waits
  /// for a pipe until `opening` is cancelled.
  func decoder(of path: String, _ opening: CancellableOpening) throws(FileFailure)
    -> any SoundDecoder
  {
    try Decoding.rawDecoder(
      forPath: path, format: format, sampleRate: sampleRate, channelCount: channelCount,
      whileWaiting: { opening.onCancel($0) })
  }
}

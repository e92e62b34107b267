import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions

/// What bare samples are: `S16_LE,44100,2`, or `cd` or `dat`.
struct RawOption: ExpressibleByArgument {
  let format: SampleFormat
  let sampleRate: Int
  let channelCount: Int

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard let format = parts.first.flatMap({ FormatOption(argument: String($0)) }),
      parts.count == 3 || (parts.count == 1 && format.channelCount != nil),
      let sampleRate = parts.count == 3 ? WrittenNumber.wholeHertz(parts[1]) : format.sampleRate,
      (1000...1_536_000).contains(sampleRate),
      let channelCount = parts.count == 3 ? WrittenNumber.whole(parts[2]) : format.channelCount,
      (1...1024).contains(channelCount)
    else { return nil }
    self.format = format.format
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// The decoder of the bare samples at `path`; standard input where it is `-`. Waits for a pipe until
  /// `opening` is called off.
  func decoder(of path: String, _ opening: Opening) throws(FileFailure) -> any SoundDecoder {
    try Decoding.rawDecoder(
      forPath: path, format: format, sampleRate: sampleRate, channelCount: channelCount,
      whileWaiting: { opening.whenCalledOff($0) })
  }
}

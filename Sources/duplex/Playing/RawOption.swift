import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions

/// What bare samples are: `S16_LE,44100,2`.
struct RawOption: ExpressibleByArgument {
  let format: SampleFormat
  let sampleRate: Int
  let channelCount: Int

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 3, let format = SampleFormat(name: String(parts[0])),
      let sampleRate = Int(parts[1]), (1000...1_536_000).contains(sampleRate),
      let channelCount = Int(parts[2]), (1...1024).contains(channelCount)
    else { return nil }
    self.format = format
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

import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import ProgramRuntime

/// The sum of the backing and the take in a separate file.
struct OverdubMix {
  private let command: OverdubCommand
  private let take: String

  init(_ command: OverdubCommand, takePath: String) {
    self.command = command
    take = takePath
  }

  /// The format of the mix, its channels, and their speakers if they are known.
  private struct Shape {
    let fileFormat: FileFormat
    let sampleFormat: FileSampleFormat
    let sampleRate: Int
    let channelCount: Int
    let speakers: [Speaker]?

    /// Creates the shape of the mix of `backing` with a take that has `sampleFormat`, `sampleRate`
    /// and `channelCount`. The mix keeps the speaker positions of the backing's channels.
    init(
      _ fileFormat: FileFormat, backing: any SoundDecoder, _ sampleFormat: FileSampleFormat,
      sampleRate: Int, channelCount: Int
    ) {
      self.fileFormat = fileFormat
      self.sampleFormat = fileFormat.nearest(to: sampleFormat)
      self.sampleRate = sampleRate
      let channels = max(channelCount, backing.channelCount)
      self.channelCount = channels
      speakers =
        backing.channelCount == channels
        ? backing.speakers ?? Speaker.defaultLayout(channelCount: channels) : nil
    }
  }

  /// Throws if the format of a mix at `path` cannot hold the sum of the backing and a take that is
  /// recorded with `configuration`.
  static func check(
    _ path: String, of command: OverdubCommand, _ configuration: DuplexConfiguration
  ) throws {
    let shape = Shape(
      try format(of: path, command), backing: try Decoding.decoder(forPath: command.backing),
      configuration.capture?.format.fileSampleFormat ?? .s24,
      sampleRate: configuration.sampleRate,
      channelCount: configuration.capture?.channelCount ?? 1)
    try shape.fileFormat.check(
      sampleFormat: shape.sampleFormat, sampleRate: shape.sampleRate,
      channelCount: shape.channelCount, speakers: shape.speakers)
  }

  private static func format(
    of path: String, _ command: OverdubCommand
  ) throws -> FileFormat {
    try RecordingTarget(
      path: path, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite
    ).fileFormat
  }

  /// Writes the mix to `path`. Returns the failure of a source that could not be read to its end;
  /// the mix is complete except for the rest of that source. Throws if the mix cannot be written.
  func write(to path: String) throws -> FileFailure? {
    let recorded = try SoundFileReader(path: take)
    let backing = try Decoding.decoder(forPath: command.backing)
    let shape = Shape(
      try Self.format(of: path, command), backing: backing, recorded.sampleFormat ?? .s24,
      sampleRate: recorded.sampleRate, channelCount: recorded.channelCount)
    let (rate, channels) = (shape.sampleRate, shape.channelCount)
    var writer = try SoundFileWriter(
      path: path, fileFormat: shape.fileFormat, sampleFormat: shape.sampleFormat, sampleRate: rate,
      channelCount: channels, overwrite: command.overwrite, speakers: shape.speakers,
      appearance: .finished, shouldStopWaiting: { SignalWatch.isEndWaiting })
    let stop = StopRequest()
    let mix = TrackMix(
      try [command.backing, take].map {
        try TrackReader(
          path: $0, sampleRate: rate, channelCount: channels,
          resamplerQuality: command.audio.resamplerQuality)
      }, channelCount: channels)
    var buffer = SampleBuffer(frameCount: 1024, channelCount: channels)
    var peak: Float = 0
    while true {
      guard !stop.isThere() else { throw FileFailure.interrupted(path) }
      let count = try mix.read(into: &buffer, frames: buffer.frameCount)
      guard count > 0 else { break }
      for sample in 0..<count * channels { peak = max(peak, abs(buffer[sample])) }
      try writer.write(buffer, frames: count)
    }
    try writer.finish()
    let failure = mix.takeFailures().first?.failure
    if mix.nonFiniteCount > 0 {
      warn("notNumbers", SessionOutcome.nonFiniteSentence(mix.nonFiniteCount))
    }
    if peak > 1 {
      let excess = (Decibels.level(peak) * 10).rounded(.up) / 10
      warn(
        "clipped",
        "\(path) has peaks of up to \(excess.shown(1)) dB above full scale, which clip when it is played.",
        hint: Self.remix(
          shape,
          [
            ("BACKING", backing.sampleRate, backing.channelCount),
            ("TAKE", recorded.sampleRate, recorded.channelCount),
          ],
          gain: (0.99 / Double(peak)).shown(4)))
    }
    return failure
  }

  /// Returns the hint with which sox makes the same mix at `gain`: it mixes only files of one rate,
  /// and mixes a single channel only into the first.
  private static func remix(
    _ shape: Shape, _ sources: [(name: String, sampleRate: Int, channelCount: Int)], gain: String
  ) -> String {
    var steps: [String] = []
    let inputs = sources.map { source in
      let rate = source.sampleRate == shape.sampleRate ? "" : " -r \(shape.sampleRate)"
      let channels =
        source.channelCount > 1 || shape.channelCount == 1 ? "" : " -c \(shape.channelCount)"
      guard !(rate + channels).isEmpty else { return "-v \(gain) \(source.name)" }
      // The conversion applies the gain, since it may raise peaks.
      steps.append("sox -v \(gain) \(source.name)\(rate)\(channels) \(source.name).wav")
      return "-v 1 \(source.name).wav"
    }
    steps.append("sox -m " + inputs.joined(separator: " ") + " MIX")
    return "Mix again at a lower gain: \(steps.joined(separator: "; "))."
  }
}

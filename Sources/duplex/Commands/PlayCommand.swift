import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// `duplex play`.
struct PlayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Stream files from disk to the output.",
    discussion: """
      Files, playlists (M3U, PLS) and folders play one after the other, without a gap. --start, --end, --region, --loop and --reverse
      apply to each. Ctrl-C or q ends it.
      """)

  @OptionGroup var audio: AudioOptions

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Gain in dB.", valueName: "db"))
  var gain = DecibelOption(0)

  @OptionGroup var order: OrderOptions

  @Flag(help: "Play all files at once, mixed.")
  var together = false

  @Flag(help: "Play the files in another order each time.")
  var shuffle = false

  @Flag(name: .customLong("repeat"), help: "Begin anew when the last file has been played.")
  var repeats = false

  @Argument(help: "Files, playlists or folders to play; - is standard input.")
  var sources: [String]

  func run() throws {
    let status = try inTermsOfTheTool {
      // The first file lends the unit its rate; each is looked at before anything sounds.
      var options = audio
      let paths = try SourceList(sources).paths
      // Standard input can be read only once.
      for (index, path) in paths.enumerated() where path != "-" {
        let file = try SoundFileReader(path: path)
        let rate = file.sampleRate
        _ = try order.order(at: rate)
        guard index == 0 else { continue }
        if options.rate == nil { options.rate = rate }
      }
      let use = PlayUse(command: self, paths: shuffle ? paths.shuffled() : paths)
      return try DeviceChoice(options, captures: false, plays: true).use(use)
    }
    throw ExitCode(status.rawValue)
  }
}

/// Plays a queue of files on a device.
private struct PlayUse: DeviceUse {
  let command: PlayCommand
  let paths: [String]

  func run<Device: DuplexDevice & ~Copyable>(
    on device: consuming Device, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    let rate = configuration.sampleRate
    let channels = configuration.playback?.channelCount ?? 2
    let queue = queue(rate: rate, channels: channels)
    let ring = SampleWriter(
      frameCount: max(rate, 4 * configuration.periodFrames), channelCount: channels)
    var desk = MixingDesk(configuration)
    let player = Player(
      ring: ring.makeReader(), channelCount: channels, periodFrames: configuration.periodFrames)
    let starved = player.makeStarvationView()
    desk.player = consume player
    desk.endsWithPlayer = true
    let feeder = PlayFeeder(ring: ring, source: queue, channelCount: channels)
    let progress = TrackProgress(queue, command.audio)
    let outcome = try SessionOutcome(
      running: device, desk, command.audio, clock, background: background + [feeder]
    ) { moment in
      progress.follow(moment.frames)
      return nil
    }
    progress.finish(outcome.report.frames, failure: feeder.failure)
    let seconds = Double(outcome.report.frames) / Double(rate)
    return outcome.conclude(
      "play", failure: feeder.failure,
      extra: [("tracks", progress.tracks), ("starvedFrames", .integer(starved.value))],
      sentence: "Played \(seconds.shown(2)) s."
        + (starved.value > 0 ? " The disk was too slow for \(starved.value) frames." : ""))
  }

  private func queue(rate: Int, channels: Int) -> TrackQueue {
    let gain = command.gain.gain
    let quality = command.audio.resamplerQuality
    let order = command.order
    let open = { @Sendable (path: String) throws(FileFailure) -> Track in
      let fileRate = path == "-" ? rate : try SoundFileReader(path: path).sampleRate
      return try Track(
        path: path, sampleRate: rate, channelCount: channels, gain: gain,
        order: (try? order.order(at: fileRate)) ?? PlayOrder(), resamplerQuality: quality)
    }
    guard command.together else {
      return TrackQueue(paths: paths, repeats: command.repeats) { path throws(FileFailure) in
        try open(path)
      }
    }
    let paths = paths
    return TrackQueue(paths: [paths.joined(separator: " + ")], repeats: command.repeats) {
      _ throws(FileFailure) in
      var tracks: [Track] = []
      for path in paths { tracks.append(try open(path)) }
      return TrackMix(tracks, channelCount: channels)
    }
  }
}

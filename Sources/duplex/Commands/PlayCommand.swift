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
    discussion: "Files play one after the other, without a gap. Ctrl-C or q ends it.")

  @OptionGroup var audio: AudioOptions

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Gain in dB.", valueName: "db"))
  var gain = DecibelOption(0)

  @Argument(help: "Files to play.")
  var sources: [String]

  func run() throws {
    let use = PlayUse(command: self)
    let status = try inTermsOfTheTool {
      // The first file lends the unit its rate; each is looked at before anything sounds.
      var options = audio
      for (index, path) in sources.enumerated() {
        let file = try SoundFileReader(path: path)
        guard index == 0 else { continue }
        if options.rate == nil { options.rate = file.sampleRate }
      }
      return try DeviceChoice(options, captures: false, plays: true).use(use)
    }
    throw ExitCode(status.rawValue)
  }
}

/// Plays a queue of files on a device.
private struct PlayUse: DeviceUse {
  let command: PlayCommand

  func run<Device: DuplexDevice & ~Copyable>(
    on device: consuming Device, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    let rate = configuration.sampleRate
    let channels = configuration.playback?.channelCount ?? 2
    let gain = command.gain.gain
    let quality = command.audio.resamplerQuality
    let queue = TrackQueue(paths: command.sources) { path throws(FileFailure) in
      try Track(
        path: path, sampleRate: rate, channelCount: channels, gain: gain,
        resamplerQuality: quality)
    }
    let ring = SampleWriter(
      frameCount: max(rate, 4 * configuration.periodFrames), channelCount: channels)
    var desk = MixingDesk(configuration)
    let player = Player(
      ring: ring.makeReader(), channelCount: channels, periodFrames: configuration.periodFrames)
    let starved = player.makeStarvationView()
    desk.player = consume player
    desk.endsWithPlayer = true
    let feeder = PlayFeeder(ring: ring, source: queue, channelCount: channels)
    let progress = TrackProgress(queue, prints: command.audio.json)
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
}

import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// `duplex play`.
struct PlayCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Stream files and http(s) addresses to the output.",
    discussion: """
      Files, addresses, playlists (M3U, PLS) and folders play one after the other, without a gap. \
      NAME#t=10,20 plays a part of one. Without a name the last note of the current folder plays. Ctrl-C or q ends it, ? shows all keys.

      --start, --end, --region, --loop, --reverse and --speed apply to each file. \(PlayKeys.help)
      """)

  @OptionGroup var audio: AudioOptions

  var outputMode: OutputMode { audio.outputMode }

  var furtherDevices: [String] {
    get { alsoPlay.devices }
    set { alsoPlay.devices = newValue }
  }

  var captures: Bool { false }

  var stoppedStatus: ExitStatus { .done }

  @OptionGroup var alsoPlay: AlsoPlayOption

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Gain in dB, for all or one for each: -6,0,-3.", valueName: "db,..."))
  var gain = PerSource(Gain.unity)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Place from -1, left, to 1, right, for all or one for each.", valueName: "p,..."))
  var pan = PerSource(Pan())

  @OptionGroup var order: OrderOptions

  @Option(
    help: ArgumentHelp(
      "The files are samples without a header, of this ALSA format, rate and channels: S16_LE,44100,2.",
      valueName: "format,hz,n"))
  var raw: RawOption?

  @Option(
    help: ArgumentHelp(
      "Buffer this much of a network source before it plays, at most 20 s. (default: 3 s, or less where the network is fast)",
      valueName: "time"))
  var prebuffer: TimeOption?

  @Option(
    help: ArgumentHelp(
      "Dither an output of 16 bits: on, off, or auto, which leaves samples of 16 bits unchanged.",
      valueName: "auto|on|off"))
  var dither = DitherOption.auto

  @Flag(help: "Play all files at once, mixed.")
  var together = false

  @Flag(help: "Play all files at once and hear one of them; the tab key changes to the next.")
  var compare = false

  @Flag(help: "Play the files in random order.")
  var shuffle = false

  @Flag(name: .customLong("repeat"), help: "Start again after the last file.")
  var repeats = false

  @Argument(
    help: ArgumentHelp(
      "Files, addresses, playlists or folders to play; - is standard input. (default: the last note)",
      valueName: "source"))
  var sources: [String] = []

  func validate() throws {
    if let prebuffer, prebuffer.seconds(at: 48000) > 20 {
      throw ValidationError("--prebuffer takes at most 20 s.")
    }
    guard !(together && compare) else {
      throw ValidationError("--together hears all at once, --compare one at a time: choose one.")
    }
  }

  func run() throws {
    let status = try inTermsOfTheTool {
      // The first file lends the unit its rate; each is looked at before anything sounds.
      var options = audio
      var list = try SourceList(sources.isEmpty ? [Notes.last()] : sources)
      if shuffle { list.shuffle() }
      let style = PlayItems.Style(
        order: order, gains: gain, pans: pan, resamplerQuality: audio.resamplerQuality, raw: raw)
      let items = try PlayItems(
        list, style,
        mixMode: together ? .together : compare ? .alternatives(0) : nil)
      if options.rate == nil { options.rate = items.firstRate }
      let use = PlayUse(
        command: self, items: items.items, choices: compare ? list.count : 0)
      var choice = DeviceChoice(options, captures: false, plays: true, alsoPlay: alsoPlay.devices)
      // Requests go on being made.
      choice.isStartUpOver = !list.contains(where: \.isRemote)
      return try choice.use(use)
    }
    throw ExitCode(status.rawValue)
  }
}

/// Plays a queue on a device.
private struct PlayUse: DeviceUse {
  let command: PlayCommand
  let items: [QueueItem]
  let choices: Int

  func run(
    on device: consuming DuplexDevice, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    var shape = AudioPlayer.Shape(configuration)
    shape.endsWithQueue = true
    shape.prebufferSeconds = command.prebuffer?.seconds(at: configuration.sampleRate)
    let player = AudioPlayer(shape)
    player.enqueue(items)
    player.setRepeating(command.repeats, shuffles: command.shuffle)
    player.play()
    var callbacks = Mixer(configuration)
    callbacks.player = player.takePlayer()
    callbacks.endsWithPlayer = true
    let meter = OutputMeter(sampleRate: shape.sampleRate, channelCount: shape.channelCount)
    let levels = meter.makeView()
    callbacks.outputMeter = consume meter
    callbacks.dither = command.dither.stage(for: configuration)
    let progress = TrackProgress(player, command.audio)
    let keys = PlayKeys(player, choices: choices, speed: command.order.speed.speed)
    let outcome = try SessionOutcome(
      running: device, callbacks, command.audio, clock, background: background + player.background,
      keys: keys
    ) { _ in
      progress.follow()
      return nil
    }
    progress.follow()
    let starved = player.starvedFrameCount
    return outcome.conclude(
      "play", failure: progress.failure, isTold: progress.announces,
      hasSounded: !player.playedTurns.isEmpty,
      extra: [
        ("tracks", progress.tracks), ("starvedFrames", .integer(starved)),
        ("clippedFrames", .integer(levels.clippedFrames)),
        ("truePeakDBTP", .fixed(levels.truePeakDBTP, digits: 2)),
      ],
      sentence: Self.sentence(
        seconds: Double(outcome.report.frames) / Double(configuration.sampleRate),
        starved: starved, clipped: levels.clippedFrames, truePeakDBTP: levels.truePeakDBTP))
  }

  /// What is told at the end.
  private static func sentence(
    seconds: Double, starved: Int, clipped: Int, truePeakDBTP: Double
  ) -> String {
    func frames(_ count: Int) -> String { count == 1 ? "1 frame" : "\(count) frames" }
    var sentence = "Played \(seconds.shown(2)) s."
    if starved > 0 {
      sentence += " The disk or the network was too slow for \(frames(starved))."
    }
    if clipped > 0 {
      sentence += " \(frames(clipped)) clipped: the peak was \(truePeakDBTP.shown(1)) dBTP."
      sentence += " Lower the gain by \(truePeakDBTP.rounded(.up).shown(0)) dB to avoid it."
    }
    return sentence
  }
}

extension AudioPlayer.Shape {
  /// The shape of a player for the output of `configuration`.
  init(_ configuration: DuplexConfiguration) {
    self.init(
      sampleRate: configuration.sampleRate,
      channelCount: configuration.playback?.channelCount ?? 2,
      periodFrames: configuration.periodFrames)
  }
}

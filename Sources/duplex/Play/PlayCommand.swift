import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex
import RealtimeAudio

/// The command `duplex play`.
struct PlayCommand: AlsoPlayingCommand {
  /// The times in seconds for which a source may be buffered.
  static let prebufferRange = 0.0...20

  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Stream files and http(s) addresses to the output.",
    discussion: """
      Files, addresses, playlists (M3U, PLS) and folders play one after the other, without a gap. \
      SOURCE#t=10,20 plays from 10 s to 20 s. Without SOURCE the last note of the current folder plays. Press \
      q or Ctrl-C to end, ? for all keys.

      --start, --end, --region, --loop, --reverse and --speed apply to each file. \(KeyBindings.help(of: "play"))
      """)

  @OptionGroup var audio: AudioOptions

  var captures: Bool { false }

  var stoppedStatus: ExitStatus { .done }

  @OptionGroup var alsoPlay: AlsoPlayOption

  @Option(
    parsing: .unconditional,
    help: .init("Gain in dB, one for all or one for each: -6,0,-3.", valueName: "db,..."))
  var gain = PerSource(Gain.unity)

  @Option(
    parsing: .unconditional,
    help: .init("Pan: \(OptionRanges.pansText), one for all or one for each.", valueName: "p,..."))
  var pan = PerSource(Pan())

  @OptionGroup var range: RangeOptions

  @Option(
    help: .init(
      "Read files without a header, as samples of this ALSA format, rate and number of channels: S16_LE,44100,2.",
      valueName: "format,hz,n"))
  var raw: RawOption?

  @Option(
    help: .init(
      "Buffer this much of a network source before it plays, at most \(Self.prebufferRange.upperBound.boundText) s. (default: 3 s, or less where the network is fast)",
      valueName: "time"))
  var prebuffer: TimeOption?

  @Option(
    help: .init(
      "Dither a 16-bit output: on, off, or auto, which does not dither unchanged 16-bit samples.",
      valueName: "auto|on|off"))
  var dither = DitherOption.auto

  @Flag(help: "Play all files at the same time, mixed.")
  var together = false

  @Flag(
    help: "Play all files in sync with one audible, up to its end; the tab key selects the next.")
  var compare = false

  @Flag(help: "Play the files in random order.")
  var shuffle = false

  @Flag(name: .customLong("repeat"), help: "Start again after the last file.")
  var repeats = false

  @Argument(
    help: .init(
      "Files, addresses, playlists or folders to play; - is standard input. (default: the last note)",
      valueName: "source"))
  var sources: [String] = []

  static let completeWords = ["x.wav"]

  func validate() throws {
    try require(
      prebuffer.map { Self.prebufferRange.contains($0.seconds(at: 48000)) } ?? true,
      "--prebuffer must be \(Self.prebufferRange.boundsText) s.")
    try require(
      !(together && compare),
      "--together and --compare cannot be used together: choose one of the two.")
  }

  func checkCombination() throws { try range.checkOrder() }

  func perform() throws -> ExitStatus {
    // All sources are checked before playback starts. A device that supports the sample rate of the
    // first one plays it without conversion.
    if repeats { try SourceList.checkRepeatable(sources) }
    var list = try SourceList(sources.isEmpty ? [Notes.last()] : sources)
    if shuffle { list.shuffle(seed: shuffleSeed) }
    let style = PlayItems.Style(
      range: range, gains: gain, pans: pan, resamplerQuality: audio.resamplerQuality, raw: raw)
    let items = try PlayItems(
      list, style, mixMode: together ? .together : compare ? .alternatives(0) : nil)
    let choice = DeviceChoice(
      audio, captures: false, plays: true, preferredRate: items.firstRate,
      alsoPlay: alsoPlay.devices)
    return try choice.use { open in
      try play(items.items, choices: compare ? list.count : 0, on: open)
    }
  }

  /// The seed of the random order; fixed in virtual time, in which each run is identical to the
  /// bit.
  private var shuffleSeed: UInt64? { audio.playsInVirtualTime ? 0 : nil }

  private func play(
    _ items: [QueueItem], choices: Int, on open: consuming OpenDevice
  ) throws -> ExitStatus {
    let configuration = open.configuration
    let player = player(of: items, configuration)
    var callbacks = Mixer(configuration)
    callbacks.player = try player.attach(to: configuration)
    callbacks.endsWithPlayer = true
    let levels = callbacks.measureTruePeak(configuration)
    callbacks.dither = dither.stage(for: configuration)
    let shown = callbacks.makeOutputMeter(audio, configuration)
    let progress = TrackProgress(player, itemCount: items.count)
    var parts = SessionParts()
    parts.background = player.background
    let keys = PlaybackKeys(
      player, choices: choices, itemCount: items.count, speed: range.speed.speed)
    parts.commandKeys = [keys]
    parts.playState = { keys.state }
    parts.poll = { _ in
      progress.follow()
      return nil
    }
    let outcome = try SessionOutcome.run(callbacks, on: open, audio, meter: shown, parts)
    progress.follow()
    let starved = player.starvedFrameCount
    return outcome.conclude(
      CommandSummary(
        command: "play", failure: progress.failure, notice: progress.announces ? .error : .none,
        hasSounded: !player.playedTracks.isEmpty,
        fields: [
          "tracks": progress.tracks, "starvedFrames": starved,
          "clippedFrames": levels.clippedFrames, "truePeakDBTP": levels.truePeakDBTP.digits(2),
        ],
        sentence: Self.sentence(
          seconds: configuration.seconds(outcome.report.frames),
          xruns: outcome.report.playbackXruns, starved: starved, clipped: levels.clippedFrames,
          truePeakDBTP: levels.truePeakDBTP)))
  }

  /// Returns a player that begins with the first of `items`.
  private func player(of items: [QueueItem], _ configuration: DuplexConfiguration) -> AudioPlayer {
    let player = AudioPlayer(
      endsWithQueue: true, prebufferSeconds: prebuffer?.seconds(at: configuration.sampleRate))
    player.enqueue(items)
    player.isRepeating = repeats
    player.isShuffling = shuffle
    if let seed = shuffleSeed { player.seedShuffling(seed) }
    player.play()
    return player
  }

  /// Returns the sentence that is printed at the end.
  private static func sentence(
    seconds: Double, xruns: Int, starved: Int, clipped: Int, truePeakDBTP: Double
  ) -> String {
    var sentence = "Played \(seconds.shown(2)) s"
    sentence += xruns > 0 ? ", \(xruns.counted("xrun"))." : "."
    if starved > 0 {
      sentence += " The disk or the network was too slow for \(starved.counted("frame"))."
    }
    if clipped > 0 {
      sentence +=
        " \(clipped.counted("frame")) clipped: the peak was \(truePeakDBTP.shown(1)) dBTP."
      sentence += " Lower the gain by \(truePeakDBTP.rounded(.up).shown(0)) dB to avoid clipping."
    }
    return sentence
  }
}

/// The option `--dither`: whether samples are dithered before they are rounded for a 16-bit output.
enum DitherOption: String, ExpressibleByArgument, CaseIterable {
  /// Dithers only samples that need rounding.
  case auto
  case on
  case off

  /// Returns the dither for the output of `configuration`; nil if there is none, because the output
  /// has more than 16 bits or its rate is converted afterwards.
  func stage(for configuration: DuplexConfiguration) -> Dither? {
    guard self != .off, !configuration.isResampling,
      configuration.playback?.format.byteCount == 2
    else { return nil }
    return Dither(isUnconditional: self == .on)
  }
}

import ArgumentParser
import AudioBasics
import AudioFiles

/// Where the round trip comes from.
enum LatencyOption: ExpressibleByArgument {
  /// Saved for this setting, else measured on the spot.
  case automatic
  case time(TimeOption)
  case file(String)

  /// More than any room or device takes, in seconds: at 768 kHz less than 2^23 frames.
  static let mostSeconds = 10.0

  init?(argument: String) {
    if argument == "auto" {
      self = .automatic
    } else if let time = TimeOption(argument) {
      guard time.seconds(at: 768_000) <= Self.mostSeconds else { return nil }
      self = .time(time)
    } else if !argument.isEmpty, WrittenNumber.decimal(argument) == nil {
      self = .file(argument)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String { "auto" }
}

/// `duplex overdub`.
struct OverdubCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "overdub",
    abstract: "Record a take that lines up with a backing track to the frame.",
    discussion: """
      TAKE is as long as BACKING and begins at its first frame.

      With --from or --to only that region of TAKE is recorded again: the rest stays identical to the \
      bit. The round trip that is \
      taken off is the one that `duplex latency --save` kept for this device, rate, period and \
      headroom; else it is measured first, over a cable or the air.
      """)

  @OptionGroup var audio: AudioOptions

  var outputMode: OutputMode { audio.outputMode }

  @OptionGroup var alsoPlay: AlsoPlayOption

  @Option(
    help: ArgumentHelp(
      "Round trip to remove: auto (saved, else measured), 12.75ms, 612f (frames), or a file with it.",
      valueName: "auto|time|file"))
  var latency = LatencyOption.automatic

  @Flag(help: "Remove the fraction of a frame as well, by resampling the take.")
  var subFrame = false

  @Option(
    help: ArgumentHelp("Start recording at this time of BACKING (punch-in).", valueName: "time"))
  var from: TimeOption?

  @Option(
    help: ArgumentHelp("Stop recording at this time of BACKING (punch-out).", valueName: "time"))
  var to: TimeOption?

  @Option(
    help: ArgumentHelp(
      "Record this many takes, to TAKE-1, TAKE-2 and so on.", valueName: "n"))
  var takes = 1

  @Option(help: ArgumentHelp("Write the mix of BACKING and TAKE to this file.", valueName: "file"))
  var mix: String?

  @Flag(help: "Play the microphone to the output as well.")
  var monitor = false

  @OptionGroup var protection: MonitorProtectionOptions

  @Option(help: ArgumentHelp("Count in this many beats.", valueName: "beats"))
  var countIn = 0

  @Option(help: ArgumentHelp("Tempo of the count-in, in beats per minute.", valueName: "bpm"))
  var tempo = 120.0

  @Flag(help: "Replace TAKE and the mix if they exist.")
  var overwrite = false

  @Argument(help: "The sound file to play.")
  var backing: String

  @Argument(help: "The file to record to.")
  var take: String

  func validate() throws {
    guard (1...1000).contains(takes) else { throw ValidationError("--takes takes 1 to 1000.") }
    guard (0...1000).contains(countIn) else {
      throw ValidationError("--count-in takes 0 to 1000 beats.")
    }
    guard (10...1000).contains(tempo) else {
      throw ValidationError("--tempo takes 10 to 1000 beats a minute.")
    }
    guard take != "-", mix != "-" else {
      throw ValidationError("A take is a file; standard output cannot be aligned.")
    }
    let files = [backing, take] + [mix].compactMap { $0 }
    let isOneTwice = files.indices.contains { index in
      files[..<index].contains { $0 == files[index] || SoundFileReader.isSame($0, files[index]) }
    }
    guard !isOneTwice else {
      throw ValidationError("BACKING, TAKE and --mix must be different files.")
    }
  }

  /// Whether only a region is recorded, into what is there.
  var isPunchIn: Bool { from != nil || to != nil }

  func run() throws {
    let status = try inTermsOfTheTool { try OverdubRun(self).run() }
    throw ExitCode(status.rawValue)
  }
}

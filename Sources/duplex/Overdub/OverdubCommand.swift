import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex
import LatencyMeasurement
import RealtimeAudio

/// The source of the length of the round trip: a saved or new measurement, a time, or a file.
enum LatencyOption: ExpressibleByArgument {
  /// The value saved for these settings, or a new measurement if there is none.
  case automatic
  case time(TimeOption)
  case file(String)

  private static let maximumSeconds = OptionRanges.roundTripSeconds.upperBound

  init?(argument: String) {
    if argument == "auto" {
      self = .automatic
    } else if let time = TimeOption(argument) {
      guard time.seconds(at: DuplexRequest.sampleRates.upperBound) <= Self.maximumSeconds else {
        return nil
      }
      self = .time(time)
    } else if !argument.isEmpty, !argument.hasPrefix("-"), NumberParser.decimal(argument) == nil {
      self = .file(argument)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String { "auto" }

  /// Throws if a time in frames is longer than the maximum at `sampleRate` Hz.
  func check(at sampleRate: Int) throws(ToolFailure) {
    guard case .time(let time) = self, time.seconds(at: sampleRate) > Self.maximumSeconds else {
      return
    }
    let maximum = Int(clamping: Self.maximumSeconds * Double(sampleRate))
    throw .usage(
      "--latency is longer than \(Int(clamping: Self.maximumSeconds)) s at \(sampleRate) Hz.",
      hint: "Use up to \(maximum)f, or a time such as 12.75ms.")
  }
}

/// The command `duplex overdub`.
struct OverdubCommand: AlsoPlayingCommand {
  static let configuration = CommandConfiguration(
    commandName: "overdub",
    abstract: "Record a take that lines up with a backing track to the frame.",
    discussion: """
      TAKE is as long as BACKING and begins at its first frame.

      With --from or --to only that region of TAKE is recorded again: the rest stays identical to the \
      bit. The round trip that is \
      taken off is the one that `duplex latency --save` kept for this device, rate, period and \
      headroom; else it is measured first, over a cable or the air.

      \(KeyBindings.help(of: "overdub"))
      """)

  @OptionGroup var audio: AudioOptions

  @OptionGroup var alsoPlay: AlsoPlayOption

  @Option(
    help: .init(
      "Round trip to remove: auto (saved, else measured), 12.75ms, 612f (frames), or a file with it.",
      valueName: "auto|time|file"))
  var latency = LatencyOption.automatic

  @Flag(help: "Remove the fraction of a frame as well, by resampling the take.")
  var subFrame = false

  @Option(help: .init("Start recording at this time (punch-in).", valueName: "time"))
  var from: TimeOption?

  @Option(help: .init("Stop recording at this time (punch-out).", valueName: "time"))
  var to: TimeOption?

  @Option(help: .init("Record this many takes: TAKE-1, TAKE-2, ...", valueName: "n"))
  var takes = 1

  @Option(help: .init("Write the mix of BACKING and TAKE to this file.", valueName: "file"))
  var mix: String?

  @Flag(help: "Play the microphone to the output as well.")
  var monitor = false

  @OptionGroup var protection: MonitorProtectionOptions

  @Option(help: .init("Count in this many beats.", valueName: "beats"))
  var countIn = 0

  @Option(
    name: .customLong("tempo"),
    help: .init("Tempo of the count-in, in beats per minute.", valueName: "bpm"))
  private var beatsPerMinute = DecimalOption(120)

  /// The tempo of the count-in in beats per minute.
  var tempo: Double { beatsPerMinute.value }

  @Flag(
    help: .init(
      "Replace TAKE and the mix if they exist. A region (--from, --to) goes into TAKE without it, unless it is all "
        + "of TAKE."))
  var overwrite = false

  @Argument(help: "The sound file to play.")
  var backing: String

  @Argument(help: "The file to record to.")
  var take: String

  static let completeWords = ["x.wav", "y.wav", "--monitor", "--limit-lookahead=5ms"]

  func validate() throws {
    try require(
      OptionRanges.takes.contains(takes), "--takes takes \(OptionRanges.takes.boundsText).")
    try require(
      OptionRanges.beats.contains(countIn),
      "--count-in takes \(OptionRanges.beats.boundsText) beats.")
    try require(
      OptionRanges.tempos.contains(tempo),
      "--tempo takes \(OptionRanges.tempos.boundsText) beats a minute.")
    try require(
      take != "-" && mix != "-", "TAKE and --mix must be files: standard output cannot be aligned.")
    try require(
      backing != "-" && !SoundFileReader.isPipe(backing),
      "BACKING must be a file: a pipe or a device can be read only once.")
    let files = takePaths + [backing] + [mix].compactMap { $0 }
    try require(
      Set(files.map(FileLocation.init(of:))).count == files.count,
      "BACKING, TAKE and --mix must be different files.")
  }

  func checkCombination() throws {
    guard let from, let to, from.isSeconds == to.isSeconds else { return }
    try require(from.seconds(at: 1) < to.seconds(at: 1), "--to must be after --from.")
  }

  /// The files of the takes, one for each pass.
  var takePaths: [String] {
    takes == 1 ? [take] : (1...takes).map { FileName.insert("-\($0)", into: take) }
  }

  /// Whether only a region of the take is recorded.
  var isPunchIn: Bool { from != nil || to != nil }

  func perform() throws -> ExitStatus { try OverdubRun(self).run() }
}

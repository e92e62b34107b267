import Duplex
import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import LatencyMeasurement
import RealtimeAudio

/// The source of the length of the round trip: a saved or new measurement, a time, or a file.
enum LatencyOption: ExpressibleByArgument {
  /// The value saved for these settings, or a new measurement if there is none.
  case automatic
  case time(TimeOption)
  case file(String)

  /// The maximum in seconds, longer than the delay of any room or device: less than 2^23 frames at
  /// 768 kHz.
  static let maximumSeconds = 10.0

  init?(argument: String) {
    if argument == "auto" {
      self = .automatic
    } else if let time = TimeOption(argument) {
      guard time.seconds(at: 768_000) <= Self.maximumSeconds else { return nil }
      self = .time(time)
    } else if !argument.isEmpty, !argument.hasPrefix("-"), NumberParser.decimal(argument) == nil {
      self = .file(argument)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String { "auto" }
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

  func validate() throws {
    try require((1...1000).contains(takes), "--takes takes 1 to 1000.")
    try require((0...1000).contains(countIn), "--count-in takes 0 to 1000 beats.")
    try require((10...1000).contains(tempo), "--tempo takes 10 to 1000 beats a minute.")
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

  /// The files of the takes, one for each pass.
  var takePaths: [String] {
    takes == 1 ? [take] : (1...takes).map { FileName.insert("-\($0)", into: take) }
  }

  /// Whether only a region of the take is recorded.
  var isPunchIn: Bool { from != nil || to != nil }

  func perform() throws -> ExitStatus { try OverdubRun(self).run() }
}

/// An overdub from its first check to its summary: finds the round trip, records each pass, inserts
/// regions into their takes, and writes the mix.
final class OverdubRun {
  /// The origin of the round trip.
  enum Source: String {
    case given, file, saved, measured
  }

  let command: OverdubCommand
  let takes: OverdubTakes
  /// The round trip in frames and its origin; nil until it is known. The frames that a device adds
  /// by delivering in steps are included only in a round trip that the user gave.
  private(set) var roundTrip: (frames: Double, source: Source)?
  var totals = SessionTotals()
  /// The path of the mix; nil until it is written.
  private(set) var mixPath: String?
  /// The report of the measurement of the round trip; nil if none was made.
  private var measurement: SessionReport?
  var passes: [OverdubPass] = []
  /// The configuration that the device granted last; nil before the first stream.
  private(set) var configuration: DuplexConfiguration?
  /// The options, with the rate of the backing if none was requested.
  private(set) var options: AudioOptions
  private let saved: SavedRoundTrip?

  init(_ command: OverdubCommand) throws {
    self.command = command
    options = command.audio
    let backing = try Decoding.decoder(forPath: command.backing)
    options.adoptRate(backing.sampleRate)
    // This is checked before playback starts; the device may still select another rate.
    let rate = options.rate ?? backing.sampleRate
    let pace = Double(rate) / Double(backing.sampleRate)
    let frames = Int(rounding: Double(backing.frameCount ?? 0) * pace)
    let region = try OverdubPlan.region(command, of: frames, rate: rate)
    takes = try OverdubTakes(command, region)
    if case .file(let path) = command.latency {
      saved = try SavedRoundTrip(file: path)
    } else {
      saved = nil
    }
  }

  /// Finds the round trip for an open device if it was given, is in a file, or was saved.
  private func findRoundTrip(_ configuration: DuplexConfiguration) throws {
    self.configuration = configuration
    guard roundTrip == nil else { return }
    if case .time(let time) = command.latency {
      roundTrip = (time.frames(at: configuration.sampleRate), .given)
    } else if let saved {
      roundTrip = (try saved.frames(for: configuration), .file)
    } else if let kept = try SavedRoundTrip.find(configuration) {
      roundTrip = (try kept.frames(for: configuration), .saved)
    }
  }

  func run() throws -> ExitStatus {
    var status = ExitStatus.done
    do throws(ToolFailure) {
      status = try mappingErrors { try recordAll() }
    } catch {
      // If a stream has run, there is a summary to print.
      guard totals.hasBegun else { throw error }
      error.report()
      status = hasNoTake ? error.status : .loss
    }
    if status == .done, hasNoTake, totals.isInterrupted {
      let failure = ToolFailure.stopped(before: "recorded; no take was kept or changed")
      failure.report()
      status = failure.status
    }
    conclude()
    return status
  }

  /// Whether no take has a frame.
  private var hasNoTake: Bool { !passes.contains(where: \.hasTake) }

  private func recordAll() throws -> ExitStatus {
    var status = ExitStatus.done
    while status == .done, passes.count < command.takes, !totals.isInterrupted {
      let wasKnown = roundTrip != nil
      let count = passes.count
      let choice = DeviceChoice(
        options, captures: true, plays: true, alsoPlay: command.alsoPlay.devices)
      status = try choice.use { open in try step(takes.paths[count], on: open) }
      if passes.count > count, command.audio.json, status == .done, !totals.isInterrupted {
        let done = Double(passes.count) / Double(command.takes)
        Terminal.emit(.progress(done, "take", ["path": takes.paths[count]]))
      }
      // A stream that only measured the round trip is followed by one that records.
      guard passes.count > count || (!wasKnown && roundTrip != nil) else { break }
    }
    // The mix uses the last take with frames: a pass that is stopped before its first frame has
    // none.
    if status == .done, let mix = command.mix, let last = passes.last(where: \.hasTake) {
      let failure = try OverdubMix(command, last).write(to: mix)
      mixPath = mix
      if let failure { throw failure }
    }
    return status
  }

  /// Prints the results of all passes.
  private func conclude() {
    guard let configuration else { return }
    if let last = passes.last { return last.conclude() }
    guard command.audio.json else { return }
    let report = totals.report.frames > 0 ? totals.report : measurement ?? totals.report
    let fields = Fields.summary(of: "overdub", report, configuration)
    Terminal.emit(.summary(fields + .written([]) + ["alignmentFrames": JSON.null]))
  }

  /// Runs one stream: measures the round trip if it is unknown, else records a pass to `path`.
  private func step(_ path: String, on open: consuming OpenDevice) throws -> ExitStatus {
    try findRoundTrip(open.configuration)
    guard let roundTrip else { return try measure(on: open) }
    return try OverdubPass(self, path, roundTrip: roundTrip).record(on: open)
  }

  private func measure(on open: consuming OpenDevice) throws -> ExitStatus {
    var plan = ProbePlan(open.configuration)
    plan.repeats = 3
    // The option for the duration applies to the take only.
    var options = options
    options.duration = nil
    inform(
      "measuringRoundTrip",
      "No round trip is saved for this device and period: measuring it with quiet bursts of noise ..."
    )
    let (found, outcome) = try measureRoundTrips(
      on: open, plan, options,
      progress: { done in
        if OutputMode.current.json { Terminal.emit(.progress(done, "measurement")) }
      })
    totals.note(outcome)
    measurement = outcome.report
    if totals.isInterrupted { return .done }
    if let failure = outcome.report.stopReason.failure { throw failure }
    guard let pair = found.main, let answer = PairAnswer(pair, plan.sampleRate) else {
      let xruns = outcome.report.captureXruns + outcome.report.playbackXruns
      guard xruns == 0 else {
        throw ToolFailure.lostSignal(
          "The round trip cannot be measured: \(xruns.counted("xrun")) lost frames meanwhile.")
      }
      throw ToolFailure.noSignal(
        "The round trip cannot be measured: nothing clear came back from the output.",
        hint: "Connect an output to an input and run `duplex latency --save` once with the same "
          + "device, rate and period, or say --latency with a time, as 612f or 12.75ms.")
    }
    if let objection = answer.objection {
      throw ToolFailure.doubtful(
        "The measured round trip of \(answer.frames.median.shown(1)) frames is doubtful: \(objection).",
        hint: "Remove the cause and start again, or accept it with \(answer.latencyOption).")
    }
    roundTrip = (answer.frames.median - Double(outcome.report.addedLatencyFrames), .measured)
    return .done
  }
}

/// The files of an overdub: one take for each pass, checked before playback starts.
struct OverdubTakes {
  let paths: [String]
  private let command: OverdubCommand
  private let fileFormat: FileFormat
  private let inputs: Set<FileIdentity>

  /// Checks the files of `command`, which records the frames `region` of the backing.
  init(_ command: OverdubCommand, _ region: Range<Int>) throws {
    self.command = command
    let target = try RecordingTarget(
      path: command.take, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    fileFormat = target.fileFormat
    guard fileFormat != .mp3 else {
      throw ToolFailure.usage(
        "A take cannot be an MP3 file: the encoder adds silence at its beginning.",
        hint: "Record the take as WAV or FLAC, so that it lines up.")
    }
    paths = command.takePaths
    var inputs = InputFiles(command.audio)
    inputs.add(command.backing)
    if case .file(let path) = command.latency { inputs.add(path) }
    self.inputs = inputs.identities
    for path in paths + [command.mix].compactMap({ $0 }) {
      guard FileIdentity(of: path).map({ !inputs.identities.contains($0) }) ?? true else {
        throw ToolFailure.usage(
          "\(path) is an input of this command: the backing, or another file that is read.",
          hint: "Choose another name for the take.")
      }
      // The purpose of a region is to be inserted into an existing take.
      let exists = SoundFileReader.exists(path)
      let mayExist =
        command.overwrite
        || (command.isPunchIn && path != command.mix && exists && !Self.isAll(of: path, region))
      guard mayExist || !exists else { throw ToolFailure.exists(path) }
      // An unusable folder is reported before the user plays.
      if !exists { try OutputFolder.check(for: path) }
    }
    if let mix = command.mix {
      _ = try RecordingTarget(
        path: mix, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    }
  }

  /// Returns whether `region` covers the whole take at `path`. Returns false if the take cannot be
  /// read, which is reported elsewhere.
  private static func isAll(of path: String, _ region: Range<Int>) -> Bool {
    guard region.lowerBound == 0, let frames = (try? SoundFileReader(path: path))?.frameCount else {
      return false
    }
    return region.upperBound >= frames
  }

  /// Returns the take into which the region is inserted; nil if there is none yet. Of several
  /// takes, one that does not exist yet is a copy of the take without a number.
  func existing(_ path: String) throws -> FileSplice? {
    guard command.isPunchIn else { return nil }
    if SoundFileReader.exists(path) { return try FileSplice(path: path) }
    guard path != command.take, SoundFileReader.exists(command.take) else { return nil }
    return try FileSplice(path: command.take, copyPath: path)
  }

  /// Returns the target of a pass: the take, or for a region a separate file that is inserted into
  /// the take afterwards.
  func target(_ path: String, into splice: FileSplice?) throws -> RecordingTarget {
    // A region is in a separate file until it is inserted, so that a power failure does not lose
    // it.
    let random = String(UInt32.random(in: 0 ... .max), radix: 36)
    var target = try RecordingTarget(
      path: command.isPunchIn ? FileName.insertShortening("-region-\(random)", into: path) : path,
      fileFormat: command.isPunchIn ? splice?.fileFormat ?? fileFormat : nil,
      sampleFormat: splice?.sampleFormat, overwrite: command.overwrite && !command.isPunchIn)
    target.inputs = inputs
    return target
  }
}

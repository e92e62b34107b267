import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex
import Glibc
import LatencyMeasurement
import ProgramRuntime
import RealtimeAudio

/// The command `duplex tune`.
struct TuneCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "tune",
    abstract: "Find the lowest period size and headroom that work without dropouts.",
    discussion: """
      Plays silence with smaller and smaller periods. Use the machine as usual during the trials, or give --load.

      A setting is rejected after one xrun (dropout), or if a callback leaves less than --margin of its \
      period unused. With a cable from output to input the round trip is measured at the end. -p sets the \
      longest period that is tried; -d ends the search with the best setting so far.
      """)

  @OptionGroup var audio: AudioOptions

  @Option(name: .customLong("seconds"), help: .init("Length of each trial.", valueName: "time"))
  private var length = TimeOption.seconds(10)

  @Flag(help: "Load every processor and the disk during the trials.")
  var load = false

  @Option(
    name: .customLong("margin"),
    help: .init("Share of each period that must stay unused, in percent.", valueName: "percent"))
  private var unused = DecimalOption(30)

  @Flag(help: "Save the result as the device's profile; commands without -p use it.")
  var save = false

  @OptionGroup var picture: ReportOptions

  func validate() throws {
    try require(
      OptionRanges.trialSeconds.contains(seconds),
      "--seconds must be \(OptionRanges.trialSeconds.boundsText) s, such as 10 or 2m.")
    try require(
      OptionRanges.margins.contains(margin),
      "--margin must be \(OptionRanges.margins.boundsText) percent.")
  }

  /// The share of each period that must stay unused, in percent.
  var margin: Double { unused.value }

  /// The length of each trial in seconds. A length in frames is converted at the requested rate.
  var seconds: Double { length.seconds(at: audio.rate ?? 48000) }

  func perform() throws -> ExitStatus {
    try picture.check(against: InputFiles(audio))
    if save {
      try DeviceProfile.check(capture: audio.inputDevice, playback: audio.outputDevice)
    }
    return try TuneRun(self).run()
  }
}

/// A search for the lowest stable setting, from its first trial to its summary.
final class TuneRun {
  let command: TuneCommand
  private(set) var trials: [TuneTrial] = []
  private(set) var totals = SessionTotals()
  /// The configuration that the device granted for the last trial.
  private(set) var configuration: DuplexConfiguration?
  private var options: AudioOptions
  private var load: SystemLoad?
  /// The expected number of remaining trials, and the completed fraction of the search.
  private var remainingTrials = 0
  private var done = 0.0
  private let line = ProgressLine("Searching", "trial")

  /// The factor by which trials that confirm the chosen setting are longer.
  private static let confirmation = 3.0

  init(_ command: TuneCommand) {
    self.command = command
    options = command.audio
  }

  /// The share of a period that a callback may use.
  var loadLimit: Double { 1 - command.margin / 100 }

  func run() throws -> ExitStatus {
    try options.request(captures: true, plays: true).validate()
    // Signals are held before any thread starts, so that only the watch receives them.
    SignalWatch.hold()
    if command.load { load = try SystemLoad(folder: SystemLoad.defaultFolder) }
    var chosen = try search()
    while chosen == nil, !totals.isOver, !isTimeOver, lowerRate() { chosen = try search() }
    guard let chosen, !totals.isOver else {
      load = nil
      return try TuneResult(self, chosen: nil, roundTripFrames: nil).conclude()
    }
    load = nil
    let roundTrip = isTimeOver ? nil : try measure(chosen)
    return try TuneResult(self, chosen: chosen, roundTripFrames: roundTrip).conclude()
  }

  /// The seconds that remain for all trials; nil without a limit.
  private var secondsLeft: Double? {
    command.audio.duration.map { duration in
      duration.seconds(at: command.audio.rate ?? 48000) - trials.reduce(0) { $0 + $1.seconds }
    }
  }

  /// Whether `--duration` is over, except for less than a frame.
  var isTimeOver: Bool { secondsLeft.map { $0 < 1e-5 } ?? false }

  /// Returns the lowest stable setting at the current rate that a longer trial confirms, or the
  /// lowest one so far when the time is over; nil if there is none.
  private func search() throws -> TuneSetting? {
    var search = TuneSearch(longest: command.audio.periodSize ?? 1024)
    while !isTimeOver, let setting = search.next(), !totals.isOver {
      // One more trial confirms the best setting.
      remainingTrials = search.remainingTrials + 1
      let trial = try soak(setting, seconds: command.seconds)
      search.note(isStable: trial.isStable(loadLimit: loadLimit))
    }
    var candidate = search.best
    while let setting = candidate, !totals.isOver {
      remainingTrials = 0
      let seconds = command.seconds * Self.confirmation
      let trial = isTimeOver ? nil : try soak(setting, seconds: seconds)
      if trial?.isRejected(loadLimit: loadLimit) != true {
        if isTimeOver, trial?.isWhole != true {
          warn(
            "notConfirmed",
            "A setting is found; --duration left no time to confirm it with a trial of \(seconds.shown(1)) s.",
            hint: "Use a longer --duration, or leave --duration out.")
        }
        return setting
      }
      search.refuse(setting)
      candidate = search.above(setting)
    }
    return nil
  }

  /// Tries one setting for `seconds`, or for the rest of the time if that is shorter.
  private func soak(_ setting: TuneSetting, seconds: Double) throws -> TuneTrial {
    var options = options(setting)
    options.duration = .seconds(min(seconds, secondsLeft ?? seconds))
    var trial: TuneTrial
    do {
      let choice = DeviceChoice(options, captures: true, plays: true)
      trial = try choice.use { open in try soak(setting, seconds: seconds, options, on: open) }
    } catch let failure as DeviceFailure where failure.kind == .refused {
      trial = TuneTrial(
        setting: setting, sampleRate: options.rate ?? configuration?.sampleRate ?? 0, seconds: 0,
        isGranted: false)
    }
    note(trial)
    return trial
  }

  /// Runs one setting with silence for the `seconds` of a trial, or for the duration in `options`
  /// if that is shorter.
  private func soak(
    _ setting: TuneSetting, seconds: Double, _ options: AudioOptions, on open: consuming OpenDevice
  ) throws -> TuneTrial {
    let configuration = open.configuration
    // Two clocks are synchronised by a resampler at any rate.
    let hasOwnRate = !configuration.isResampling || configuration.master != nil
    let isGranted =
      hasOwnRate && configuration.periodFrames == setting.periodFrames
      && configuration.headroomFrames == setting.headroomFrames
    // The configuration of a rejected setting does not describe the trials that ran.
    if isGranted || self.configuration == nil { self.configuration = configuration }
    guard isGranted else {
      return TuneTrial(
        setting: setting, sampleRate: configuration.sampleRate, seconds: 0, isGranted: false)
    }
    var parts = SessionParts()
    let frames = options.duration?.frameCount(at: configuration.sampleRate) ?? 0
    var task = LiveTask(
      "Trial \(trials.count + 1): period \(setting.periodFrames), headroom \(setting.headroomFrames)"
    )
    let clock = SteadyTime()
    task.progress = { [line, done, remainingTrials] in
      let part = min(1, clock.seconds * Double(configuration.sampleRate) / Double(max(1, frames)))
      let whole = done + part * (1 - done) / Double(remainingTrials + 1)
      return line.progress(whole, of: "search")
    }
    parts.task = task
    // One xrun is enough to reject the setting.
    parts.poll = { $0.captureXruns + $0.playbackXruns > 0 ? .end : nil }
    let outcome = try SessionOutcome.run(Mixer(configuration), on: open, options, parts)
    let report = outcome.report
    totals.add(outcome)
    var trial = TuneTrial(
      setting: setting, sampleRate: configuration.sampleRate,
      seconds: configuration.seconds(report.frames),
      captureXruns: report.captureXruns, playbackXruns: report.playbackXruns,
      loadMax: report.loadMax,
      isWhole: report.frames
        >= TimeOption.seconds(seconds).frameCount(at: configuration.sampleRate)
        || report.captureXruns + report.playbackXruns > 0)
    trial.addedFrames =
      Int(rounding: configuration.resamplerDelayFrames) + report.addedLatencyFrames
    return trial
  }

  /// Stores a trial, and prints it.
  private func note(_ trial: TuneTrial) {
    let prints = !command.audio.json && !command.audio.quiet
    if trials.isEmpty, prints { Terminal.printLine("\(TrialLine.heading)") }
    trials.append(trial)
    if prints { Terminal.printLine("\(TrialLine(trial, loadLimit: loadLimit).text)") }
    // The completed fraction does not decrease if the search needs more trials than expected.
    done = max(done, Double(trials.count) / Double(trials.count + remainingTrials))
    if OutputMode.current.json { line.reportProgress(done, trial.fields(loadLimit: loadLimit)) }
  }

  /// Selects the next lower usual rate. Returns false if there is none, or if the user requested a
  /// rate.
  private func lowerRate() -> Bool {
    guard command.audio.rate == nil, let rate = options.rate ?? configuration?.sampleRate,
      let lower = [192_000, 96_000, 48_000, 44_100].first(where: { $0 < rate })
    else { return false }
    options.rate = lower
    return true
  }

  /// Measures the round trip with the chosen setting. Returns nil if the result is unreliable.
  private func measure(_ setting: TuneSetting) throws -> Double? {
    let options = options(setting)
    let choice = DeviceChoice(options, captures: true, plays: true)
    let (found, outcome) = try choice.use { open in
      var plan = ProbePlan(open.configuration)
      plan.repeats = 1
      return try measureRoundTrips(on: open, plan, options)
    }
    totals.note(outcome)
    configuration = outcome.configuration
    let answer = found.main.flatMap {
      RoundTripEstimate($0, sampleRate: outcome.configuration.sampleRate)
    }
    return answer?.objection == nil ? answer?.frames : nil
  }

  /// Returns the options for a setting, without a duration.
  private func options(_ setting: TuneSetting) -> AudioOptions {
    var options = options
    options.periodSize = setting.periodFrames
    options.headroom = setting.headroomFrames
    options.duration = nil
    // Xruns are the purpose of the trials, and are listed in the table.
    options.quiet = !command.audio.verbose
    return options
  }
}

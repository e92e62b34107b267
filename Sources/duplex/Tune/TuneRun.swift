import AudioDevices
import AudioFiles
import AudioSessions
import Glibc
import LatencyMeasurement
import RealtimeAudio

/// A search for the lowest stable setting, from its first trial to its summary.
final class TuneRun {
  let command: TuneCommand
  private(set) var trials: [TuneTrial] = []
  fileprivate(set) var totals = SessionTotals()
  /// The device as the last trial was granted it.
  fileprivate(set) var configuration: DuplexConfiguration?
  private var options: AudioOptions
  private var load: SystemLoad?
  /// Trials that are still to come as far as can be told, and how much of all is done.
  private var remainingTrials = 0
  private var done = 0.0
  private var line = ProgressLine()

  /// Trials of the chosen setting are this much longer.
  private static let confirmation = 3.0

  init(_ command: TuneCommand) {
    self.command = command
    options = command.audio
  }

  /// The share of a period that a callback may take.
  var loadLimit: Double { 1 - command.margin / 100 }

  func run() throws -> ExitStatus {
    // Before any thread: a signal must reach the watch only.
    SignalWatch.hold()
    if command.load { load = try SystemLoad(path: SystemLoad.usualPath) }
    var chosen = try search()
    while chosen == nil, !totals.isOver, lowerRate() { chosen = try search() }
    guard let chosen, !totals.isOver else {
      load = nil
      line.end()
      return try TuneResult(self, chosen: nil, roundTripFrames: nil).conclude()
    }
    load = nil
    line.end()
    let roundTrip = try measure(chosen)
    return try TuneResult(self, chosen: chosen, roundTripFrames: roundTrip).conclude()
  }

  /// The lowest stable setting at the present rate that a longer soak confirms.
  private func search() throws -> TuneSetting? {
    var search = TuneSearch(longest: command.audio.periodSize ?? 1024)
    while let setting = search.next(), !totals.isOver {
      // And the best is confirmed.
      remainingTrials = search.remainingTrials + 1
      let trial = try soak(setting, seconds: command.seconds)
      search.note(isStable: trial.isStable(loadLimit: loadLimit))
    }
    var candidate = search.best
    while let setting = candidate, !totals.isOver {
      remainingTrials = 0
      let trial = try soak(setting, seconds: command.seconds * Self.confirmation)
      if trial.isStable(loadLimit: loadLimit) { return setting }
      search.refuse(setting)
      candidate = search.above(setting)
    }
    return nil
  }

  private func soak(_ setting: TuneSetting, seconds: Double) throws -> TuneTrial {
    var options = options
    options.periodSize = setting.periodFrames
    options.headroom = setting.headroomFrames
    options.duration = .seconds(seconds)
    // An xrun is what is looked for here, and stands in the table.
    options.quiet = !command.audio.verbose
    let use = SoakUse(run: self, options: options, setting: setting)
    do {
      _ = try DeviceChoice(
        options, captures: true, plays: true, stoppedStatus: .loss
      ).use(use)
    } catch let failure as DeviceFailure where failure.kind == .refused {
      note(
        TuneTrial(
          setting: setting, sampleRate: options.rate ?? configuration?.sampleRate ?? 0, seconds: 0,
          isGranted: false))
    }
    return trials[trials.count - 1]
  }

  /// Keeps a trial, and shows it.
  func note(_ trial: TuneTrial) {
    if trials.isEmpty, !command.audio.json, !command.audio.quiet {
      Terminal.printLine("\(TrialLine.heading)")
    }
    trials.append(trial)
    line.end()
    if !command.audio.json, !command.audio.quiet {
      Terminal.printLine("\(TrialLine(trial, loadLimit: loadLimit).text)")
    }
    tellProgress(trial)
  }

  private func tellProgress(_ trial: TuneTrial) {
    // A search that takes longer than it seemed does not go backwards.
    done = max(done, Double(trials.count) / Double(trials.count + remainingTrials))
    if command.audio.json {
      Terminal.emit(.progress(done, "trial", trial.fields(loadLimit: loadLimit)))
    } else {
      line.draw("Searching", done: done)
    }
  }

  /// Goes to the next lower usual rate that the device has itself. False where there is none.
  private func lowerRate() -> Bool {
    guard command.audio.rate == nil, let rate = configuration?.sampleRate,
      let lower = [192_000, 96_000, 48_000, 44_100].first(where: { $0 < rate })
    else { return false }
    options.rate = lower
    return true
  }

  private func measure(_ setting: TuneSetting) throws -> Double? {
    var options = options
    options.periodSize = setting.periodFrames
    options.headroom = setting.headroomFrames
    options.duration = nil
    options.quiet = !command.audio.verbose
    let use = RoundTripUse(run: self, options: options)
    _ = try DeviceChoice(options, captures: true, plays: true, stoppedStatus: .loss).use(use)
    return use.result.frames
  }
}

/// Runs one setting, silent, for the length of a trial.
private struct SoakUse: DeviceUse {
  let run: TuneRun
  let options: AudioOptions
  let setting: TuneSetting

  func run(
    on device: consuming DuplexDevice, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    run.configuration = configuration
    let isGranted =
      !configuration.isResampling && configuration.periodFrames == setting.periodFrames
      && configuration.headroomFrames == setting.headroomFrames
    guard isGranted else {
      run.note(
        TuneTrial(
          setting: setting, sampleRate: configuration.sampleRate, seconds: 0, isGranted: false))
      return .done
    }
    let outcome = try SessionOutcome(
      running: device, Mixer(configuration), options, clock, background: background
    ) { moment in
      // One is enough to refuse it.
      moment.captureXruns + moment.playbackXruns > 0 ? .end : nil
    }
    let report = outcome.report
    run.totals.add(report)
    run.note(
      TuneTrial(
        setting: setting, sampleRate: configuration.sampleRate,
        seconds: Double(report.frames) / Double(configuration.sampleRate),
        captureXruns: report.captureXruns, playbackXruns: report.playbackXruns,
        loadMax: report.loadMax))
    return .done
  }
}

/// Measures the round trip with the setting that was chosen.
private struct RoundTripUse: DeviceUse {
  final class Result {
    var frames: Double?
  }

  let run: TuneRun
  let options: AudioOptions
  let result = Result()

  func run(
    on device: consuming DuplexDevice, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    var plan = ProbePlan(device.configuration)
    plan.repeats = 1
    let (found, outcome) = try measureRoundTrips(
      on: device, plan, options, clock, background: background)
    run.totals.note(outcome.report)
    run.configuration = outcome.configuration
    let answer = found.main.flatMap { PairAnswer($0, plan.sampleRate) }
    result.frames = answer?.isTrustworthy == true ? answer?.frames.median : nil
    return .done
  }
}

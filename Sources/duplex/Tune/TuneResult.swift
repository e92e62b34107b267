import AudioDevices
import AudioFiles
import AudioSessions
import LatencyMeasurement
import Reports

/// The result of a search for the best setting, as text, as an event, as a profile and as a report.
struct TuneResult {
  private let run: TuneRun
  private let chosen: TuneSetting?
  private let roundTripFrames: Double?

  init(_ run: TuneRun, chosen: TuneSetting?, roundTripFrames: Double?) {
    self.run = run
    self.chosen = chosen
    self.roundTripFrames = roundTripFrames
  }

  private static let timeOver = ToolFailure(
    .loss, code: "stopped", "The time was over before a setting was found; nothing is saved.",
    hint: "Use a longer --duration, or leave --duration out.")

  func conclude() throws -> ExitStatus {
    guard let configuration = run.configuration else {
      if run.tuning.isTimeOver { throw Self.timeOver }
      throw DeviceFailure(
        .refused, "The device supports none of the settings that were tried.",
        hint: "`duplex devices -v` shows the rates and periods of each device.")
    }
    var status = ExitStatus.done
    if let failure {
      failure.report()
      // The trials before the loss of a device count, whatever the device's failure is.
      status = run.totals.report.failure == nil ? failure.status : .loss
    }
    // The result is printed even if it cannot be saved.
    var kept: [String] = []
    do throws(ToolFailure) {
      try mappingErrors { try keep(configuration, &kept) }
    } catch {
      error.report()
      status = error.status
    }
    if run.command.audio.json {
      Terminal.emit(.summary(fields(configuration) + .written(kept)))
    } else if let chosen {
      Terminal.printLine("\(sentence(chosen, configuration))")
    }
    return status
  }

  /// The reason for which the search found no setting, or ended early; nil if it was completed.
  private var failure: ToolFailure? {
    if let failure = run.totals.report.failure { return ToolFailure(failure) }
    if chosen == nil, run.totals.isInterrupted {
      return .stopped(before: "found; nothing is saved")
    }
    if chosen == nil, run.tuning.isTimeOver { return Self.timeOver }
    if !run.tuning.trials.contains(where: \.isGranted), !run.totals.isInterrupted {
      return ToolFailure(
        .unavailable, code: "deviceRefused",
        "The device does not run at \(run.tuning.trials.last?.sampleRate ?? 0) Hz without resampling.",
        hint: (run.command.audio.rate == nil ? "" : "Leave out --rate; ")
          + "`duplex devices -v` shows the rates of each device.")
    }
    guard chosen == nil else { return nil }
    return ToolFailure(
      .loss, code: "unstable",
      "No setting ran for \(run.command.seconds.shown(1)) s without a dropout.",
      hint: "Allow realtime priority (see the README), end other programs, or use a lower --margin."
    )
  }

  /// Writes the report and saves the profile, each if it is requested. Adds the paths of the
  /// written files to `kept`.
  private func keep(_ configuration: DuplexConfiguration, _ kept: inout [String]) throws {
    try run.command.picture.write(
      svg: { picture(configuration).svg() }, html: { picture(configuration).html() })
    if let path = run.command.picture.report { kept.append(path) }
    guard let chosen, run.command.save else { return }
    let audio = run.command.audio
    let path = try DeviceProfile(
      periodFrames: chosen.periodFrames, headroomFrames: chosen.headroomFrames,
      sampleRate: configuration.sampleRate
    ).save(capture: audio.inputDevice, playback: audio.outputDevice)
    kept.append(path)
    inform("kept", "Saved in \(path).")
  }

  private func fields(_ configuration: DuplexConfiguration) -> Fields {
    .summary(of: "tune", run.totals.report, configuration) + [
      "periodFrames": chosen?.periodFrames, "headroomFrames": chosen?.headroomFrames,
      "latencyFrames": latencyFrames, "roundTripFrames": roundTripFrames?.digits(4),
      "marginPercent": run.command.margin.digits(2),
      "trials": run.tuning.trials.map { $0.fields(loadLimit: run.tuning.settings.loadLimit) },
    ]
  }

  /// The index of the last trial of the chosen setting, which confirmed it.
  private var confirmation: Int? {
    chosen.flatMap { chosen in run.tuning.trials.lastIndex { $0.setting == chosen } }
  }

  /// The latency from input to output with the chosen setting, in frames.
  private var latencyFrames: Int? {
    chosen.map { chosen in
      chosen.latencyFrames + (confirmation.map { run.tuning.trials[$0].addedFrames } ?? 0)
    }
  }

  private func sentence(_ chosen: TuneSetting, _ configuration: DuplexConfiguration) -> String {
    let rate = configuration.sampleRate
    let latency = latencyFrames ?? chosen.latencyFrames
    let milliseconds = Double(latency) * 1000 / Double(rate)
    let trip =
      roundTripFrames.map {
        ", round trip \($0.shown(2)) frames (\(($0 * 1000 / Double(rate)).shown(2)) ms)"
      } ?? ""
    return "Lowest stable: -p \(chosen.periodFrames) --headroom \(chosen.headroomFrames), "
      + "\(latency) frames (\(milliseconds.shown(2)) ms) from input to output at "
      + "\(rate) Hz\(trip); at least \(run.command.margin.shown(0)) % of every period stayed unused."
  }

  private func picture(_ configuration: DuplexConfiguration) -> TunePicture {
    let names = [configuration.playback?.device, configuration.capture?.device]
      .compactMap { $0 }.joined(separator: " and ")
    return TunePicture(
      title: names,
      subtitle: "\(configuration.sampleRate) Hz, \(run.tuning.trials.count.counted("trial")) of "
        + "\(run.command.seconds.shown(1)) s\(run.command.load ? " under load" : "")",
      sampleRate: configuration.sampleRate,
      trials: run.tuning.trials.map {
        TunePicture.Trial(
          periodFrames: $0.setting.periodFrames, headroomFrames: $0.setting.headroomFrames,
          addedFrames: $0.addedFrames, seconds: $0.seconds, xruns: $0.xruns, loadMax: $0.loadMax,
          isStable: $0.isStable(loadLimit: run.tuning.settings.loadLimit))
      }, chosen: confirmation, loadLimit: run.tuning.settings.loadLimit)
  }
}

extension TuneTrial {
  /// Returns the fields of the trial for events.
  func fields(loadLimit: Double) -> Fields {
    [
      "periodFrames": setting.periodFrames, "headroomFrames": setting.headroomFrames,
      "sampleRate": sampleRate, "seconds": seconds.digits(3),
      "xruns": Fields.xruns(capture: captureXruns, playback: playbackXruns),
      "loadMax": loadMax.digits(5), "granted": isGranted,
      "stable": isStable(loadLimit: loadLimit),
    ]
  }
}

/// One trial as a row of a table.
struct TrialLine {
  static let heading = "   rate  period  headroom  seconds  xruns  load max"

  let text: String

  init(_ trial: TuneTrial, loadLimit: Double) {
    let verdict =
      !trial.isGranted
      ? "not supported by the device"
      : trial.isRejected(loadLimit: loadLimit)
        ? "rejected" : trial.isWhole ? "stable" : "unfinished"
    text =
      "\(trial.sampleRate)".aligned(to: 7) + "\(trial.setting.periodFrames)".aligned(to: 8)
      + "\(trial.setting.headroomFrames)".aligned(to: 10) + trial.seconds.shown(1).aligned(to: 9)
      + "\(trial.xruns)".aligned(to: 7)
      + ((trial.loadMax * 100).shown(1) + " %").aligned(to: 10) + "  " + verdict
  }
}

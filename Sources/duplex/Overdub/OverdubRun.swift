import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex
import LatencyMeasurement

/// An overdub from its first check to its summary: finds the round trip, records the passes one
/// after the other, and writes the mix.
final class OverdubRun {
  private let command: OverdubCommand
  private let files: OverdubTakes
  /// The round trip; nil until it is known.
  private var roundTrip: KnownRoundTrip?
  private var totals = SessionTotals()
  /// The path of the mix; nil until it is written.
  private var mixPath: String?
  /// The report of the measurement of the round trip; nil if none was made.
  private var measurement: SessionReport?
  /// The results of the passes so far.
  private var takes: [RecordedTake] = []
  /// The configuration that the device granted last; nil before the first stream.
  private var configuration: DuplexConfiguration?
  /// The options, with the rate of the backing if none was requested.
  private var options: AudioOptions
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
    files = try OverdubTakes(command, region)
    if case .file(let path) = command.latency {
      saved = try SavedRoundTrip(file: path)
    } else {
      saved = nil
    }
  }

  /// Finds the round trip for an open device if it was given, is in a file, or was saved.
  private func findRoundTrip(_ configuration: DuplexConfiguration) throws {
    try command.latency.check(at: configuration.sampleRate)
    self.configuration = configuration
    guard roundTrip == nil else { return }
    if case .time(let time) = command.latency {
      roundTrip = KnownRoundTrip(
        frames: time.frames(at: configuration.sampleRate), source: .given)
    } else if let saved {
      roundTrip = KnownRoundTrip(
        frames: try saved.frames(for: configuration), source: .file)
    } else if let kept = try SavedRoundTrip.find(configuration) {
      roundTrip = KnownRoundTrip(
        frames: try kept.frames(for: configuration), source: .saved)
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
      status = isNothingKept ? error.status : .loss
    }
    if status == .done, isNothingKept, totals.isInterrupted {
      let failure = ToolFailure.stopped(before: "recorded; no take was kept or changed")
      failure.report()
      status = failure.status
    }
    conclude()
    return status
  }

  /// Whether no take has a frame.
  private var isNothingKept: Bool { !takes.contains(where: \.hasFrames) }

  private func recordAll() throws -> ExitStatus {
    var status = ExitStatus.done
    while status == .done, takes.count < command.takes, !totals.isInterrupted {
      let wasKnown = roundTrip != nil
      let count = takes.count
      let choice = DeviceChoice(
        options, captures: true, plays: true, alsoPlay: command.alsoPlay.devices)
      status = try choice.use { open in try step(on: open) }
      if takes.count > count, command.audio.json, status == .done, !totals.isInterrupted {
        let done = Double(takes.count) / Double(command.takes)
        Terminal.emit(.progress(done, "take", ["path": takes[count].writtenPath]))
      }
      // A stream that only measured the round trip is followed by one that records.
      guard takes.count > count || (!wasKnown && roundTrip != nil) else { break }
    }
    // The mix uses the last take with frames: a pass that is stopped before its first frame has
    // none.
    if status == .done, let mix = command.mix, let last = takes.last(where: \.hasFrames) {
      let failure = try OverdubMix(command, takePath: last.writtenPath).write(to: mix)
      mixPath = mix
      if let failure { throw failure }
    }
    return status
  }

  /// Prints the results of all passes.
  private func conclude() {
    guard let configuration else { return }
    if let summary = OverdubSummary(takes, totals: totals, mixPath: mixPath) {
      return summary.conclude()
    }
    guard command.audio.json else { return }
    let report = totals.report.frames > 0 ? totals.report : measurement ?? totals.report
    let fields = Fields.summary(of: "overdub", report, configuration)
    Terminal.emit(.summary(fields + .written([]) + ["alignmentFrames": JSON.null]))
  }

  /// Runs one stream: measures the round trip if it is unknown, else records the next pass.
  private func step(on open: consuming OpenDevice) throws -> ExitStatus {
    try findRoundTrip(open.configuration)
    // A refusal must not follow a measurement or a take.
    if takes.isEmpty {
      try command.protection.checkLookahead(at: open.configuration.sampleRate)
      try files.check(open.configuration)
    }
    guard let roundTrip else {
      try measure(on: open)
      return .done
    }
    let pass = OverdubPass(
      command, options, files, number: takes.count + 1, roundTrip: roundTrip)
    let take = try pass.record(on: open)
    totals.add(take.outcome)
    takes.append(take)
    if let failure = take.insertionFailure { throw failure }
    return take.isWhole ? .done : .loss
  }

  /// Measures the round trip. Throws if it cannot be measured, or is doubtful.
  private func measure(on open: consuming OpenDevice) throws {
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
    if totals.isInterrupted { return }
    if let failure = outcome.report.stopReason.failure { throw failure }
    guard let pair = found.main, let answer = RoundTripEstimate(pair, sampleRate: plan.sampleRate)
    else {
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
        "The measured round trip of \(answer.frames.shown(1)) frames is doubtful: \(objection).",
        hint: "Remove the cause and start again, or accept it with \(answer.latencyOption).")
    }
    roundTrip = KnownRoundTrip(
      frames: answer.frames - Double(outcome.report.addedLatencyFrames), source: .measured)
  }
}

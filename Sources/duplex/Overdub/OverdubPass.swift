import Duplex
import AudioBasics
import AudioClocks
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// One pass of an overdub: the backing is played, and the take is recorded.
final class OverdubPass {
  private let run: OverdubRun
  private let roundTrip: (frames: Double, source: OverdubRun.Source)
  private var alignment: StepAlignment?
  /// The path of the take.
  let path: String
  /// The path of the file with the region, if it could not be inserted into the take.
  private var regionPath: String?
  private(set) var report = RecordingReport()
  /// Whether frames were recorded.
  var hasTake: Bool { report.frames > 0 }
  private(set) var plan: OverdubPlan?
  private var outcome: SessionOutcome?
  private var feeder: PlayFeeder?

  init(
    _ run: OverdubRun, _ path: String, roundTrip: (frames: Double, source: OverdubRun.Source)
  ) {
    self.run = run
    self.path = path
    self.roundTrip = roundTrip
  }

  func record(on open: consuming OpenDevice) throws -> ExitStatus {
    let configuration = open.configuration
    let rate = configuration.sampleRate
    let channels = configuration.capture?.channelCount ?? 1
    try run.command.protection.checkLookahead(at: rate)
    let track = try TrackReader(
      path: run.command.backing, sampleRate: rate,
      channelCount: configuration.playback?.channelCount ?? 2,
      resamplerQuality: run.options.resamplerQuality)
    var callbacks = Mixer(configuration)
    var parts = SessionParts()
    let control = SessionControl()
    control.install(on: &callbacks, configuration, playsMicrophone: run.command.monitor)
    if run.command.monitor {
      parts.protection = run.command.protection.install(on: &callbacks, configuration)
    }
    // The delay of the limiter makes the round trip longer.
    let delay = Double(parts.protection?.delayFrames ?? 0)
    let plan = try OverdubPlan(
      run.command, backing: track, roundTrip: roundTrip.frames + delay, configuration)
    self.plan = plan
    let splice = try run.takes.existing(path)
    if let splice {
      try check(splice, rate: rate, channels: channels)
      warnOfLostParts(splice)
    }
    parts.microphoneKeys = gainKeys(control)
    let feeder = try feeder(track, plan, configuration, &callbacks)
    let alignment = StepAlignment(configuration, isFixed: roundTrip.source == .given)
    self.alignment = alignment
    let target = try run.takes.target(path, into: splice)
    let recording = target.plan(configuration.capture, sampleRate: rate, open.clock)
    let writer = try writer(recording, plan, alignment)
    callbacks.recorder = writer.takeRecorder()
    let meter = callbacks.makeMeter(run.options, configuration)
    parts.background = [writer, feeder]
    parts.frameLimit = plan.frameLimit
    let number = "take \(run.passes.count + 1) of \(run.command.takes)"
    parts.task = LiveTask(
      "Overdubbing \(FileName.last(of: run.command.backing)) to \(path)"
        + (run.command.takes > 1 ? ", \(number)" : ""),
      firstFrame: plan.window.firstFrame, frames: plan.region.count)
    let keys = TakeKeys(
      writer, recording, from: configuration.capture?.device ?? "",
      firstFrame: run.command.isPunchIn ? plan.region.lowerBound : 0)
    parts.takeKeys = keys
    parts.poll = { moment in
      keys.poll()
      return writer.isFailed ? .disk : alignment.isComplete(at: moment) ? .duration : nil
    }
    let outcome = try SessionOutcome.run(
      callbacks, on: open, run.options, meter: meter, parts)
    keys.poll()
    self.outcome = outcome
    self.feeder = feeder
    report = writer.report
    alignment.checkChange(to: outcome.report.addedLatencyFrames, path: path)
    run.totals.add(outcome)
    run.passes.append(self)
    if run.command.isPunchIn, report.frames > 0 {
      try keepRegion(target, splice, plan, configuration)
    }
    let isWhole =
      report.failure == nil && feeder.failure == nil
      && outcome.report.stopReason.failure == nil
    return isWhole ? .done : .loss
  }

  /// Returns the writer of the take, which moves it by the fraction of a frame in `plan`.
  private func writer(
    _ recording: RecordingPlan, _ plan: OverdubPlan, _ alignment: StepAlignment
  ) throws -> RecordingWriter {
    // Without optimisation, `Optional.map` does not preserve nil here (Swift 6.3.1).
    var shift: FrameShift?
    if let fraction = plan.fraction {
      shift = FrameShift(fraction: fraction, channelCount: recording.channelCount)
    }
    return try RecordingWriter(
      recording,
      ringFrames: try RecordingRing.frameCount(
        seconds: nil, sampleRate: recording.sampleRate, channelCount: recording.channelCount),
      gate: WindowGate(plan.window) { alignment.place($0) },
      shift: shift)
  }

  /// Inserts the recorded region into the take, even if the device was unplugged. After a failure
  /// of the disk the region stays in its own file.
  private func keepRegion(
    _ target: RecordingTarget, _ splice: FileSplice?, _ plan: OverdubPlan,
    _ configuration: DuplexConfiguration
  ) throws {
    guard report.failure == nil else {
      regionPath = target.path
      return warn("regionApart", "The recorded region alone is kept in \(target.path).")
    }
    try put(
      target, target.keeps(configuration.capture?.format), splice, plan,
      rate: configuration.sampleRate, channels: configuration.capture?.channelCount ?? 1)
    for index in report.gaps.indices { report.gaps[index].frame += plan.region.lowerBound }
  }

  /// Returns the keys for the gain of the microphone if it is played, else for the whole output.
  private func gainKeys(_ control: SessionControl) -> MicrophoneKeys {
    var targets = MicrophoneKeys.KeyTargets()
    targets.pauses = false
    if run.command.monitor {
      targets.setGain = { control.monitorGain = $0 }
      (targets.isOfOutput, targets.hasBacking) = (true, true)
    } else {
      targets.setGain = { control.outputGain = $0 }
      targets.isOfBacking = true
    }
    return MicrophoneKeys(targets, from: 0)
  }

  /// Installs the player. Returns the feeder that plays the clicks, then the backing up to the end
  /// of the region.
  private func feeder(
    _ track: TrackReader, _ plan: OverdubPlan, _ configuration: DuplexConfiguration,
    _ callbacks: inout Mixer
  ) throws -> PlayFeeder {
    let rate = configuration.sampleRate
    let channels = configuration.playback?.channelCount ?? 2
    // Without a limit the track is read to its end, where it reports an announced length that is
    // wrong.
    let isToTheEnd = plan.region.upperBound >= plan.backingFrames
    try track.narrow(
      from: plan.playedFrom, frames: isToTheEnd ? nil : plan.region.upperBound - plan.playedFrom)
    let clicks = ClickTrack(
      beats: run.command.countIn, tempo: run.command.tempo, sampleRate: rate,
      channelCount: channels)
    let silence = SilentSource(frameCount: plan.learningFrames)
    let ring = SampleWriter(
      frameCount: max(rate, 4 * configuration.periodFrames), channelCount: channels)
    var player = PlayerStage(
      ring: ring.makeReader(), channelCount: channels, periodFrames: configuration.periodFrames)
    player.keepsTimeline = true
    callbacks.player = consume player
    return PlayFeeder(
      ring: ring, source: SourceSequence([silence, clicks, track]), channelCount: channels)
  }

  private func check(_ splice: FileSplice, rate: Int, channels: Int) throws {
    guard splice.sampleRate == rate, splice.channelCount == channels else {
      throw ToolFailure.unusable(
        "\(splice.path) has \(splice.channelCount.counted("channel")) at \(splice.sampleRate) Hz; this take "
          + "would have \(channels) at \(rate) Hz.",
        hint: "Use -c \(splice.channelCount) -r \(splice.sampleRate), or convert the file.")
    }
  }

  private func warnOfLostParts(_ splice: FileSplice) {
    guard !splice.lostParts.isEmpty else { return }
    let parts = splice.lostParts.map(\.printable).joined(separator: ", ")
    warn(
      "metadataLost", "\(splice.path) is rewritten without its parts \(parts).",
      hint: "Keep a copy of it if you need them.")
  }

  /// Inserts the region into its take.
  private func put(
    _ target: RecordingTarget, _ sampleFormat: FileSampleFormat, _ splice: FileSplice?,
    _ plan: OverdubPlan, rate: Int, channels: Int
  ) throws {
    let whole =
      splice
      ?? FileSplice(
        newPath: path, fileFormat: target.fileFormat, sampleFormat: sampleFormat,
        sampleRate: rate, channelCount: channels)
    do throws(FileFailure) {
      try whole.replace(
        from: plan.region.lowerBound, with: target.path,
        minimumFrames: splice == nil ? plan.backingFrames : 0, isNew: splice == nil,
        isStopped: StopRequest().isThere)
    } catch {
      regionPath = target.path
      throw error
    }
  }

  /// Prints the results of all passes, of which this is the last one.
  func conclude() {
    guard let outcome, let plan else { return }
    // A pass that ended before the start of its take has no file.
    let added = Double(alignment?.frames ?? 0)
    let paths = run.passes.filter(\.hasTake).map { $0.regionPath ?? $0.path }
    let mix = run.mixPath
    // With a mix there are two files; `path` is that of the take.
    let path: Fields = mix != nil && paths.count == 1 ? ["path": paths[0]] : [:]
    let rest =
      abs(plan.restFrames) < 0.0005 ? "" : ", \(plan.restFrames.shown(3)) frames not removed"
    // Two clocks, as those of a sound server, are held together with an error.
    let error = outcome.report.drift?.errorFrames ?? 0
    let apart =
      abs(error) < 0.5 ? "" : "; the clocks were \(abs(error).shown(1)) frames apart at the end"
    var recorded = RecordingReport()
    for pass in run.passes { recorded.add(pass.report) }
    var totals = run.totals.report
    // The end of the backing is the normal end, unless the user requested an earlier one.
    if case .duration = totals.stopReason, !plan.isShortened {
      totals.stopReason = .end
    }
    outcome.with(totals).conclude(
      "overdub", recorded: recorded, failure: feeder?.failure,
      extra: .written(paths + [mix].compactMap(\.self)) + path + [
        "mixPath": mix,
        "alignmentFrames": (plan.alignmentFrames + added).digits(5),
        "alignmentRestFrames": plan.restFrames.digits(5),
        "roundTripFrames": (roundTrip.frames + added).digits(5),
        "latencySource": roundTrip.source.rawValue, "takeFrames": report.frames,
        "fromFrame": plan.region.lowerBound, "toFrame": plan.region.upperBound,
        "peakDBFS": report.levels.samplePeaks.map { Decibels.level($0).digits(2) },
      ],
      sentence: paths.isEmpty
        ? run.totals.isInterrupted ? nil : "Nothing was recorded: no take was kept or changed."
        : lengths(plan, outcome.configuration.sampleRate, paths)
          + " \((plan.alignmentFrames + added).shown(3)) frames of round trip removed "
          + "(\(roundTrip.source.rawValue)\(rest))\(apart).")
  }

  /// Returns the files that were written, with their length, and the intended length after an
  /// interruption.
  private func lengths(
    _ plan: OverdubPlan, _ rate: Int, _ paths: [String]
  ) -> String {
    func seconds(_ frames: Int) -> String { (Double(frames) / Double(rate)).shown(2) + " s" }
    let lost = report.gaps.reduce(0) { $0 + $1.frames }
    let loss =
      lost > 0 ? " \(lost.counted("frame")) lost in \(report.gaps.count.counted("gap"))," : ""
    let written = paths.joined(separator: ", ")
    guard run.totals.isInterrupted else {
      return "\(written): \(seconds(report.frames)), \(report.frames.counted("frame")),\(loss)"
    }
    guard report.frames > 0 else { return "Interrupted: kept \(written)," }
    return "Interrupted: kept \(written), \(paths.count > 1 ? "of the last take " : "")"
      + "\(seconds(report.frames)) of \(seconds(plan.region.count)), \(report.frames.counted("frame")),\(loss)"
  }
}

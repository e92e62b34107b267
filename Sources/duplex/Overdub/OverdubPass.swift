import AudioBasics
import AudioClocks
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// One pass of an overdub: the backing plays, the take is recorded.
final class OverdubPass {
  private let run: OverdubRun
  private let roundTrip: Double
  /// The take.
  let path: String
  private(set) var report = RecordingReport()
  private(set) var plan: OverdubPlan?
  private var outcome: SessionOutcome?
  private var feeder: PlayFeeder?

  init(_ run: OverdubRun, _ path: String, roundTrip: Double) {
    self.run = run
    self.path = path
    self.roundTrip = roundTrip
  }

  func record<Device: DuplexDevice & ~Copyable>(
    on device: consuming Device, _ clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    let rate = configuration.sampleRate
    let channels = configuration.capture?.channelCount ?? 1
    let track = try Track(
      path: run.command.backing, sampleRate: rate,
      channelCount: configuration.playback?.channelCount ?? 2,
      resamplerQuality: run.options.resamplerQuality)
    let plan = try OverdubPlan(
      run.command, backing: track, roundTrip: roundTrip, configuration)
    self.plan = plan
    let splice = try run.takes.existing(path)
    if let splice { try check(splice, rate: rate, channels: channels) }
    var desk = MixingDesk(configuration)
    var ears: EarsWatch?
    if run.command.monitor {
      desk.monitor = .softStart(gain: 1, configuration)
      ears = run.command.ears.install(on: &desk, fullScale: 1, run.options, configuration)
    }
    let feeder = try feeder(track, plan, configuration, &desk)
    let window = plan.window
    let target = try run.takes.target(path, into: splice)
    // `map` of what may be missing loses that it is missing where this is not optimised (Swift 6.3.1).
    var shift: FrameShift?
    if let fraction = plan.fraction {
      shift = FrameShift(fraction: fraction, channelCount: channels)
    }
    let saver = try TapeSaver(
      target.plan(configuration.capture, sampleRate: rate, clock),
      ringFrames: try RecordingRing.frameCount(
        seconds: nil, sampleRate: rate, channelCount: channels),
      gate: WindowGate(window),
      shift: shift)
    desk.recorder = saver.takeRecorder()
    let meter = desk.makeMeter(run.options, configuration)
    let outcome = try SessionOutcome(
      running: device, desk, run.options, clock, background: background + [saver, feeder],
      meter: meter, frameLimit: window.firstFrame + plan.region.count, ears: ears
    ) { _ in saver.isFailed ? .disk : nil }
    self.outcome = outcome
    self.feeder = feeder
    report = saver.report
    run.totals.add(outcome.report)
    run.passes.append(self)
    // What was recorded goes into the take, even where the device went away.
    if run.command.isPunchIn, report.failure == nil, report.frames > 0 {
      try put(
        target, target.keeps(configuration.capture?.format), splice, plan, rate: rate,
        channels: channels)
    } else if run.command.isPunchIn, report.frames > 0 {
      Notice.warning("regionApart", "What was recorded of the region is in \(target.path).")
        .report()
    }
    let isWhole =
      report.failure == nil && feeder.failure == nil
      && outcome.report.stopReason.failure == nil
    return isWhole ? .done : .loss
  }

  /// Clicks, then the backing up to the region's end.
  private func feeder(
    _ track: Track, _ plan: OverdubPlan, _ configuration: DuplexConfiguration,
    _ desk: inout MixingDesk
  ) throws -> PlayFeeder {
    let rate = configuration.sampleRate
    let channels = configuration.playback?.channelCount ?? 2
    try track.narrow(from: plan.playedFrom, frames: plan.region.upperBound - plan.playedFrom)
    let clicks = ClickTrack(
      beats: run.command.countIn, tempo: run.command.tempo, sampleRate: rate,
      channelCount: channels)
    let ring = SampleWriter(
      frameCount: max(rate, 4 * configuration.periodFrames), channelCount: channels)
    var player = Player(
      ring: ring.makeReader(), channelCount: channels, periodFrames: configuration.periodFrames)
    player.keepsTimeline = true
    desk.player = consume player
    return PlayFeeder(
      ring: ring, source: SourceSequence([clicks, track]), channelCount: channels)
  }

  private func check(_ splice: FileSplice, rate: Int, channels: Int) throws {
    guard splice.sampleRate == rate, splice.channelCount == channels else {
      throw ToolFailure(
        .unusableInput, code: "inputUnusable",
        "\(splice.path) has \(splice.channelCount) channels at \(splice.sampleRate) Hz; this take "
          + "would have \(channels) at \(rate) Hz.",
        hint: "Say -c \(splice.channelCount) -r \(splice.sampleRate), or convert the file.")
    }
  }

  /// Puts the region into its take.
  private func put(
    _ target: RecordingTarget, _ sampleFormat: FileSampleFormat, _ splice: FileSplice?,
    _ plan: OverdubPlan, rate: Int, channels: Int
  ) throws {
    let whole =
      splice
      ?? FileSplice(
        newPath: path, fileFormat: target.fileFormat, sampleFormat: sampleFormat,
        sampleRate: rate, channelCount: channels)
    try whole.replace(
      from: plan.region.lowerBound, with: target.path,
      leastFrames: splice == nil ? plan.backingFrames : 0, isNew: splice == nil,
      isStopped: StopWish().isThere)
  }

  /// Tells what came of all passes, this one being the last.
  func conclude(
    _ run: OverdubRun, _ totals: SessionReport,
    _ roundTrip: (frames: Double, source: OverdubRun.Source)
  ) {
    guard let outcome, let plan else { return }
    let paths = run.passes.map(\.path)
    let seconds = Double(report.frames) / Double(outcome.configuration.sampleRate)
    let rest = plan.restFrames == 0 ? "" : ", \(plan.restFrames.shown(3)) frames left over"
    var totals = totals
    // The backing's end is the end, unless the user named an earlier one.
    if case .duration = totals.stopReason, run.command.audio.duration == nil {
      totals.stopReason = .end
    }
    outcome.with(totals).conclude(
      "overdub", recorded: report, failure: feeder?.failure,
      extra: JSON.written(paths) + [
        ("mixPath", run.command.mix.map { JSON.written($0) } ?? .null),
        ("alignmentFrames", .rounded(plan.alignmentFrames, 5)),
        ("alignmentRestFrames", .rounded(plan.restFrames, 5)),
        ("roundTripFrames", .rounded(roundTrip.frames, 5)),
        ("latencySource", .string(roundTrip.source.rawValue)),
        ("takeFrames", .integer(report.frames)),
        ("fromFrame", .integer(plan.region.lowerBound)),
        ("toFrame", .integer(plan.region.upperBound)),
        ("peakDBFS", .array(report.peaks.map { .rounded(Decibels.level($0)) })),
      ],
      sentence: "\(paths.joined(separator: ", ")): \(seconds.shown(2)) s, \(report.frames) frames, "
        + "\(plan.alignmentFrames.shown(3)) frames of round trip taken off "
        + "(\(roundTrip.source.rawValue)\(rest)).")
  }
}

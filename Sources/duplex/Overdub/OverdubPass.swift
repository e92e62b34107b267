import AudioBasics
import AudioClocks
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex
import RealtimeAudio

/// One pass of an overdub: the backing is played, and the take is recorded.
struct OverdubPass {
  private let command: OverdubCommand
  private let options: AudioOptions
  private let files: OverdubTakes
  private let number: Int
  private let roundTrip: KnownRoundTrip
  /// The path of the take.
  private let path: String

  /// Creates the pass `number`, from 1. `options` are those of `command`, with the rate of the
  /// backing if none was requested.
  init(
    _ command: OverdubCommand, _ options: AudioOptions, _ files: OverdubTakes, number: Int,
    roundTrip: KnownRoundTrip
  ) {
    self.command = command
    self.options = options
    self.files = files
    self.number = number
    self.roundTrip = roundTrip
    path = files.paths[number - 1]
  }

  /// Records the take on `open`. Throws if the session cannot begin. Later failures are in the
  /// result.
  func record(on open: consuming OpenDevice) throws -> RecordedTake {
    let configuration = open.configuration
    let rate = configuration.sampleRate
    let track = try TrackReader(
      path: command.backing, sampleRate: rate,
      channelCount: configuration.playback?.channelCount ?? 2,
      resamplerQuality: options.resamplerQuality)
    var callbacks = Mixer(configuration)
    var parts = SessionParts()
    installMicrophone(on: &callbacks, &parts, configuration)
    // The delay of the limiter makes the round trip longer.
    let delay = Double(parts.protection?.delayFrames ?? 0)
    let plan = try OverdubPlan(
      command, backing: track, roundTrip: roundTrip.frames + delay, configuration)
    let splice = try files.existing(path, configuration)
    warnOfLostParts(splice)
    let feeder = try feeder(track, plan, configuration, &callbacks)
    let alignment = StepAlignment(configuration, isFixed: roundTrip.source == .given)
    let target = try files.target(path, into: splice)
    let recording = target.plan(configuration.capture, sampleRate: rate, open.clock)
    let writer = try writer(
      recording, plan, alignment, periodFrames: configuration.periodFrames)
    callbacks.inputRecorder = writer.takeRecorder()
    let meter = callbacks.makeMeter(options, configuration)
    let keys = TakeKeys(
      writer, recording, from: configuration.capture?.device ?? "",
      firstFrame: command.isPunchIn ? plan.region.lowerBound : 0)
    parts.background = [writer, feeder]
    parts.frameLimit = plan.frameLimit
    parts.task = task(plan)
    parts.commandKeys.append(keys)
    parts.poll = { snapshot in
      keys.poll()
      if writer.isFailed { return .disk }
      return Self.muted(snapshot.drift, configuration, forSeconds: 10).map(StopReason.device)
        ?? (alignment.isComplete(at: snapshot) ? .duration : nil)
    }
    let outcome = Self.checked(
      try SessionOutcome.run(callbacks, on: open, options, meter: meter, parts))
    keys.poll()
    if writer.report.frames > 0 {
      alignment.checkChange(to: outcome.report.addedLatencyFrames, path: path)
    }
    var take = RecordedTake(
      path: path, isRegion: command.isPunchIn, plan: plan, roundTrip: roundTrip, outcome: outcome,
      addedFrames: alignment.frames, backingFailure: feeder.failure, report: writer.report)
    if command.isPunchIn, take.hasFrames { keepRegion(of: &take, target, splice) }
    return take
  }

  /// Returns `outcome`; if the output was still muted at its end, with that as the reason.
  private static func checked(_ outcome: SessionOutcome) -> SessionOutcome {
    var report = outcome.report
    guard !report.stopReason.isUserRequest, report.failure == nil,
      let failure = muted(report.drift, outcome.configuration, forSeconds: 1)
    else { return outcome }
    report.stopReason = .device(failure)
    return outcome.with(report)
  }

  /// Returns the failure of an output that has played nothing of the backing for `seconds` seconds;
  /// nil if it plays.
  private static func muted(
    _ drift: DriftReading?, _ configuration: DuplexConfiguration, forSeconds seconds: Int
  ) -> DeviceFailure? {
    let rate = configuration.sampleRate
    guard let frames = drift?.mutedFrames, frames >= seconds * rate else { return nil }
    return .outputMuted(configuration, seconds: frames / rate)
  }

  /// Installs the control of the microphone, its keys, and the protection of the output if the
  /// microphone is played.
  private func installMicrophone(
    on callbacks: inout Mixer, _ parts: inout SessionParts, _ configuration: DuplexConfiguration
  ) {
    let control = SessionControl()
    control.install(on: &callbacks, configuration, playsMicrophone: command.monitor)
    if command.monitor {
      parts.protection = command.protection.install(on: &callbacks, configuration)
    }
    parts.commandKeys = [gainKeys(control)]
  }

  /// Returns the keys for the gain of the microphone if it is played, else for the whole output.
  private func gainKeys(_ control: SessionControl) -> MicrophoneKeys {
    var targets = MicrophoneKeys.KeyTargets()
    targets.pauses = false
    if command.monitor {
      targets.gain = .output(set: { control.monitorGain = $0 }, hasBacking: true)
    } else {
      targets.gain = .backing(set: { control.outputGain = $0 })
    }
    return MicrophoneKeys(targets, from: 0)
  }

  /// Warns of the parts that the take loses when the region is inserted into it.
  private func warnOfLostParts(_ splice: FileSplice?) {
    guard let splice, !splice.lostParts.isEmpty else { return }
    let parts = splice.lostParts.map(\.printable).joined(separator: ", ")
    warn(
      "metadataLost", "\(splice.path) is rewritten without its parts \(parts).",
      hint: "Keep a copy of it if you need them.")
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
      beats: command.countIn, tempo: command.tempo, sampleRate: rate,
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

  /// Returns the writer of the take, which moves it by the fraction of a frame in `plan`.
  private func writer(
    _ recording: RecordingPlan, _ plan: OverdubPlan, _ alignment: StepAlignment, periodFrames: Int
  ) throws -> RecordingWriter {
    // Without optimisation, `Optional.map` does not preserve nil here (Swift 6.3.1).
    var shift: FrameShift?
    if let fraction = plan.fraction {
      shift = FrameShift(fraction: fraction, channelCount: recording.channelCount)
    }
    let ringFrames = try RecordingRing.frameCount(
      seconds: nil, sampleRate: recording.sampleRate, channelCount: recording.channelCount,
      periodFrames: periodFrames)
    do throws(FileFailure) {
      return try RecordingWriter(
        recording, ringFrames: ringFrames, gate: WindowGate(plan.window) { alignment.place($0) },
        shift: shift)
    } catch {
      guard error.remedy == .shortenRing else { throw error }
      // The ring buffer of a take has a fixed length.
      throw FileFailure(
        error.kind, error.message,
        hint: "Use fewer --channels or a lower --rate, or end other programs.")
    }
  }

  /// Returns the task that the screen shows.
  private func task(_ plan: OverdubPlan) -> LiveTask {
    let number = command.takes > 1 ? ", take \(number) of \(command.takes)" : ""
    return LiveTask(
      "Overdubbing \(FileName.last(of: command.backing)) to \(path)\(number)",
      firstFrame: plan.window.firstFrame, frames: plan.region.count)
  }

  /// Inserts the recorded region into the take, even if the device was unplugged. After a failure
  /// of the disk the region stays in its own file.
  private func keepRegion(
    of take: inout RecordedTake, _ target: RecordingTarget, _ splice: FileSplice?
  ) {
    let regionPath = take.recordedPath ?? target.path
    guard take.report.failure == nil else {
      take.regionPath = regionPath
      return warn("regionApart", "The recorded region alone is kept in \(regionPath).")
    }
    let first = take.plan.region.lowerBound
    do throws(FileFailure) {
      try whole(target, splice, take.outcome.configuration).replace(
        from: first, with: regionPath,
        minimumFrames: splice == nil ? take.plan.backingFrames : 0, isNew: splice == nil,
        isStopped: StopRequest().isThere)
    } catch {
      take.regionPath = regionPath
      take.insertionFailure = error
      return
    }
    for index in take.report.gaps.indices { take.report.gaps[index].frame += first }
  }

  /// Returns the take into which the region is inserted: `splice`, or a new one of the same shape
  /// as the region.
  private func whole(
    _ target: RecordingTarget, _ splice: FileSplice?, _ configuration: DuplexConfiguration
  ) -> FileSplice {
    splice
      ?? FileSplice(
        newPath: path, fileFormat: target.fileFormat,
        sampleFormat: target.keeps(configuration.capture?.format),
        sampleRate: configuration.sampleRate,
        channelCount: configuration.capture?.channelCount ?? 1)
  }
}

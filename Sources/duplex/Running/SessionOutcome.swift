import AudioDevices
import AudioFiles
import AudioSessions
import Duplex
import RealtimeAudio

/// A session that has ended, for the summary.
struct SessionOutcome {
  private(set) var report: SessionReport
  let configuration: DuplexConfiguration
  /// How the user requested the end, even if the session had already ended; nil if there was no
  /// request.
  let requestedEnd: StopReason?
  private let options: AudioOptions

  /// Runs `callbacks` on `open` with the other parts of the session, and returns when it has ended.
  /// Throws if the device cannot be started. A device that fails later is in the report.
  static func run<Callbacks: SessionCallbacks & ~Copyable>(
    _ callbacks: consuming Callbacks, on open: consuming OpenDevice, _ options: AudioOptions,
    meter: consuming MeterView? = nil, _ parts: SessionParts
  ) throws(DeviceFailure) -> SessionOutcome {
    let configuration = open.configuration
    let clock = open.clock
    let background = open.background + parts.background
    let request = EndRequest(background)
    let watch = SessionWatch(
      options, configuration, parts, request,
      watchdog: clock.isVirtual ? ShutdownWatchdog(request, background) : nil)
    // The code that prepared the session is not needed again.
    MemoryLock.releaseStartUpCode()
    MemoryLock.lockTouchedPages()
    let limit = parts.frameLimit ?? options.duration?.frameCount(at: configuration.sampleRate)
    let runner = SessionRunner(
      device: open.device, callbacks: callbacks, background: background, meter: meter,
      frameLimit: limit, fadeFrames: parts.protection?.fadeFrames ?? 0,
      reconnects: parts.reconnects)
    var report: SessionReport
    do throws(DeviceFailure) {
      report = try runner.run(clock: clock) { watch.process($0, $1) }
    } catch {
      // A session that was reported as started has a summary.
      guard watch.hasStarted else { throw error }
      report = SessionReport()
      report.configuration = configuration
      report.callbackDelayFrames = parts.protection?.delayFrames ?? 0
      report.stopReason = .device(error)
    }
    Terminal.endDrawing()
    parts.recording?.conclude()
    let outcome = SessionOutcome(
      report: report, configuration: configuration, requestedEnd: watch.requestedEnd,
      options: options)
    if report.isDeviceStuck { outcome.reportStuckDevice() }
    return outcome
  }

  /// The latency of the unit from input to output at the end, in frames, with the delay of the
  /// limiter.
  var latencyFrames: Double { report.latencyFrames ?? configuration.latencyFrames }

  /// Warns that the device cannot be stopped. No frames are lost, but the device remains busy.
  private func reportStuckDevice() {
    warn(
      "deviceStuck", "The device \(configuration.deviceNames) cannot be stopped.",
      hint: "The system closes it when the program ends; check the sound server or the cable.")
  }

  /// Warns if the device stalled until the end. A stall that ended before is reported as a gap.
  private func warnOfStall() {
    guard report.stalledSeconds >= 0.5, !report.isDeviceAbsent else { return }
    let lost = configuration.capture != nil ? "captured" : "played"
    warn(
      "stalled",
      "The device \(configuration.deviceNames) delivered no frames for the last "
        + "\(report.stalledSeconds.shown(1)) s: nothing was \(lost) in that time.",
      hint: "Check the sound server or the cable.")
  }

  /// Returns the sentence about `count` samples that were replaced by silence.
  static func nonFiniteSentence(_ count: Int) -> String {
    "\(count.counted("sample")) had no finite value (NaN or infinity) and became silence."
  }

  /// Returns the same outcome with the totals of several sessions.
  func with(_ totals: SessionReport) -> SessionOutcome {
    var outcome = self
    outcome.report = totals
    return outcome
  }

  /// Prints the summary with that of the command. If there was a loss that was not reported yet, an
  /// error is printed before. Returns the exit status.
  @discardableResult
  func conclude(_ summary: CommandSummary) -> ExitStatus {
    var status = ExitStatus.done
    let recorded = summary.recorded
    if let fileFailure = recorded?.failure ?? summary.failure {
      let failure = ToolFailure(fileFailure)
      switch summary.notice {
      case .none: failure.report()
      case .warning: failure.report(wasWarning: true)
      case .error: break
      }
      // If nothing was played or recorded, nothing was lost: the request could not be fulfilled.
      let isUncreated = recorded?.frames == 0 && fileFailure.kind == .cannotCreate
      let isNothing =
        summary.hasSounded.map { !$0 }
        ?? (isUncreated || (report.frames == 0 && recorded == nil))
      status = isNothing ? failure.status : .loss
    } else if let deviceFailure = report.stopReason.failure
      ?? report.absenceFailure(configuration, isRecorded: (recorded?.frames ?? 0) > 0)
    {
      let failure = ToolFailure(deviceFailure)
      failure.report()
      status = failure.status
    }
    warnOfStall()
    if report.nanCount > 0 {
      warn("notNumbers", Self.nonFiniteSentence(report.nanCount))
    }
    if options.json {
      let fields = Fields.summary(
        of: summary.command, report, configuration, recorded: recorded)
      Terminal.emit(.summary(fields + summary.fields))
    } else if let sentence = summary.sentence, !options.quiet {
      Terminal.say("\(sentence)")
    }
    return status
  }
}

extension Mixer {
  /// Measures the microphone if its level is shown or `isFollowed` is true. Returns the view of the
  /// meter; nil if nothing is measured.
  mutating func makeMeter(
    _ options: AudioOptions, _ configuration: DuplexConfiguration, isFollowed: Bool = false
  ) -> MeterView? {
    guard isFollowed || options.json || Self.isShown else { return nil }
    return measureMicrophone(
      configuration, readingsPerSecond: Self.readingsPerSecond(options))
  }

  /// Measures the output if its level is shown. Returns the view of the meter; nil if it is not.
  mutating func makeOutputMeter(
    _ options: AudioOptions, _ configuration: DuplexConfiguration
  ) -> MeterView? {
    guard options.json || Self.isShown else { return nil }
    return measureOutput(configuration, readingsPerSecond: Self.readingsPerSecond(options))
  }

  /// Returns the number of readings of a meter per second.
  private static func readingsPerSecond(_ options: AudioOptions) -> Int {
    options.json ? 10 : 20
  }

  /// Whether a meter is drawn.
  private static var isShown: Bool { Terminal.isLive && !OutputMode.current.isTerse }

  /// Mixes `items` into the output. Returns the player; nil if there are no items.
  mutating func makePlayer(
    _ items: [QueueItem], _ configuration: DuplexConfiguration
  ) throws(DeviceFailure) -> AudioPlayer? {
    guard !items.isEmpty else { return nil }
    let player = AudioPlayer()
    player.enqueue(items)
    player.play()
    self.player = try player.attach(to: configuration)
    return player
  }
}

extension SessionReport {
  /// Whether the device, or one of two, was unplugged at the end.
  fileprivate var isDeviceAbsent: Bool {
    events.contains { event in
      switch event.kind {
      case .deviceAbsent, .captureAbsent, .playbackAbsent: true
      default: false
      }
    }
  }

  /// Returns the failure of a device that was unplugged at the end of a session, which `isRecorded`
  /// or not; nil if there is none, or if the user ended the session and therefore knows about it.
  fileprivate func absenceFailure(
    _ configuration: DuplexConfiguration, isRecorded: Bool
  ) -> DeviceFailure? {
    if stopReason.isUserRequest { return nil }
    let remedy =
      configuration.isServer
      ? "Start its sound server, then start again." : DeviceFailure.reconnectionHint
    func absent(_ name: String?) -> DeviceFailure {
      DeviceFailure(
        .lost, "The device \(name ?? configuration.deviceNames) did not come back.",
        hint: isRecorded
          ? "The recording is saved, with silence in place of lost frames." : remedy)
    }
    for event in events {
      switch event.kind {
      case .deviceAbsent: return absent(nil)
      case .captureAbsent: return absent(configuration.capture?.device)
      case .playbackAbsent: return absent(configuration.playback?.device)
      default: break
      }
    }
    return nil
  }
}

import Duplex
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// The parts of a session beside its device, its callbacks and its meter.
struct SessionParts {
  /// Work beside the device's own.
  var background: [any BackgroundWork] = []
  /// How long it may run; nil for as long as the options say.
  var frameLimit: Int?
  /// What steers the files that play.
  var playKeys: PlaybackKeys?
  /// Pauses, and changes the microphone's gain.
  var microphoneKeys: MicrophoneKeys?
  /// What is recorded, where something is.
  var recording: RecordingWatch?
  /// What protects the output, where a microphone is played.
  var protection: MonitorProtectionDisplay?
  /// Whether it waits for a device that went away.
  var reconnects = false
  /// Sets markers in a take.
  var takeKeys: TakeKeys?
  /// What a person is told is going on, where it is not a plain recording.
  var task: LiveTask?
  /// A command's own business at each moment; answers with a reason to stop, where there is one.
  var poll: (SessionMoment) -> StopReason? = { _ in nil }

  /// What keys do, in the order of their hints; the last one that knows a key has it.
  var keys: [any KeyResponder] {
    let all: [(any KeyResponder)?] = [
      playKeys, microphoneKeys, takeKeys, recording, protection,
    ]
    return all.compactMap { $0 }
  }
}

/// A session that ran to its end, to be summed up.
struct SessionOutcome {
  private(set) var report: SessionReport
  let configuration: DuplexConfiguration
  /// How the user asked for the end, in time or when it was over already; nil where nobody did.
  let askedEnd: StopReason?
  private let options: AudioOptions
  /// Frames by which a limiter that looks ahead delays all that is played.
  private let limiterDelayFrames: Int

  /// Runs `callbacks` on `open` with what else there is to it.
  init<Callbacks: SessionCallbacks & ~Copyable>(
    running open: consuming OpenDevice, _ callbacks: consuming Callbacks,
    _ options: AudioOptions, meter: consuming MeterView? = nil, _ parts: SessionParts
  ) throws {
    let configuration = open.configuration
    self.configuration = configuration
    self.options = options
    let clock = open.clock
    let background = open.background + parts.background
    let request = EndRequest(background)
    let watch = SessionWatch(
      options, configuration, parts, request,
      standstill: clock.isVirtual ? StandstillWatch(request, background) : nil)
    MemoryLock.lockTouchedPages()
    limiterDelayFrames = parts.protection?.delayFrames ?? 0
    let limit = parts.frameLimit ?? options.duration?.frameCount(at: configuration.sampleRate)
    let runner = SessionRunner(
      device: open.device, callbacks: callbacks, background: background, meter: meter,
      frameLimit: limit,
      fadeFrames: parts.protection?.fadeFrames ?? 0,
      reconnects: parts.reconnects)
    do throws(DeviceFailure) {
      report = try runner.run(clock: clock) { watch.moment($0, $1) }
    } catch {
      // What has been told as begun is summed up.
      guard watch.hasStarted else { throw error }
      report = SessionReport()
      report.stopReason = .device(error)
    }
    askedEnd = watch.askedEnd
    Terminal.endDrawing()
    parts.recording?.conclude()
    if report.isDeviceStuck { tellStuckDevice() }
  }

  /// Frames from input to output as the unit kept them at the end, with the delay of the limiter.
  var latencyFrames: Double {
    configuration.latencyFrames + Double(report.addedLatencyFrames + limiterDelayFrames)
  }

  /// Nothing was lost by it, but it explains why the device is busy now.
  private func tellStuckDevice() {
    warn(
      "deviceStuck", "The device \(configuration.deviceNames) cannot be stopped.",
      hint: "The system closes it when the program ends; check the sound server or the cable.")
  }

  /// A device that comes back has a gap. That it does not, only the end shows.
  private func warnOfStall() {
    guard report.stalledSeconds >= 0.5, !report.isDeviceAbsent else { return }
    let lost = configuration.capture != nil ? "captured" : "played"
    warn(
      "stalled",
      "The device \(configuration.deviceNames) delivered no frames for the last "
        + "\(report.stalledSeconds.shown(1)) s: nothing was \(lost) in that time.",
      hint: "Check the sound server or the cable.")
  }

  /// Says that `count` samples became silence.
  static func nonFiniteSentence(_ count: Int) -> String {
    "\(count.counted("sample")) had no finite value (NaN or infinity) and became silence."
  }

  /// The same with the figures of several sessions.
  func with(_ totals: SessionReport) -> SessionOutcome {
    var outcome = self
    outcome.report = totals
    return outcome
  }

  /// Prints the summary, and the error before it where there was a loss that is not told already;
  /// answers with the status.
  @discardableResult
  func conclude(
    _ command: String, recorded: RecordingReport? = nil, failure: FileFailure? = nil,
    isTold: Bool = false, hasSounded: Bool? = nil, extra: Fields, sentence: String?
  ) -> ExitStatus {
    var status = ExitStatus.done
    let fileFailure = recorded?.failure ?? failure
    if let fileFailure {
      let failure = ToolFailure(fileFailure)
      if !isTold { failure.report() }
      // Where nothing was played or begun nothing was lost: what was asked for cannot be done.
      let isUncreated = recorded?.frames == 0 && fileFailure.kind == .cannotCreate
      let isNothing =
        hasSounded.map { !$0 } ?? (isUncreated || (report.frames == 0 && recorded == nil))
      status = isNothing ? failure.status : .loss
    } else if let deviceFailure = report.stopReason.failure ?? report.absenceFailure(configuration)
    {
      let failure = ToolFailure(deviceFailure)
      failure.report()
      status = failure.status
    }
    warnOfStall()
    if report.nanCount > 0 {
      warn("notNumbers", Self.nonFiniteSentence(report.nanCount))
    }
    let summary = Fields.summary(of: command, report, configuration, recorded: recorded)
    if options.json {
      Terminal.emit(.summary(summary + extra))
    } else if let sentence, !options.quiet {
      Terminal.say("\(sentence)")
    }
    return status
  }
}

extension Mixer {
  /// Measures the microphone, where it is shown or `isFollowed`: answers with what is shown.
  mutating func makeMeter(
    _ options: AudioOptions, _ configuration: DuplexConfiguration, isFollowed: Bool = false
  ) -> MeterView? {
    guard isFollowed || options.json || Self.isShown else { return nil }
    return measureMicrophone(
      configuration, readingsPerSecond: Self.readingsPerSecond(options))
  }

  /// Measures what is played, where it is shown.
  mutating func makePlayedMeter(
    _ options: AudioOptions, _ configuration: DuplexConfiguration
  ) -> MeterView? {
    guard options.json || Self.isShown else { return nil }
    return measureOutput(configuration, readingsPerSecond: Self.readingsPerSecond(options))
  }

  /// Readings a second of a meter.
  static func readingsPerSecond(_ options: AudioOptions) -> Int {
    options.json ? 10 : 20
  }

  /// Whether a person sees a meter.
  private static var isShown: Bool { Terminal.isLive && !OutputMode.current.isTerse }

  /// Mixes `items` into the output; nil where there are none.
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
  /// Whether the device, or one of two, was away at the end.
  fileprivate var isDeviceAbsent: Bool {
    events.contains { event in
      switch event.kind {
      case .deviceAbsent, .captureAbsent, .playbackAbsent: true
      default: false
      }
    }
  }

  /// The device that went away and was not back at the end; a user who ended it knows that.
  fileprivate func absenceFailure(_ configuration: DuplexConfiguration) -> DeviceFailure? {
    if stopReason.isOfTheUser { return nil }
    func absent(_ name: String?) -> DeviceFailure {
      DeviceFailure(
        .lost, "The device \(name ?? configuration.deviceNames) did not come back.",
        hint: "The recording is saved, with silence in place of lost frames.")
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

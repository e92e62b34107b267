import AudioDevices
import AudioSessions
import RealtimeAudio

/// The status of an engine at one moment: phase, devices, frames, levels and xruns.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// try await engine.start()
/// let status = engine.status
/// precondition(status.phase == .running && status.latencyFrames == 512)
/// await engine.stop()
/// ```
public struct EngineStatus: Sendable {
  /// The phase of an engine's life cycle.
  public enum Phase: Sendable, Equatable {
    /// Not running: not started yet, or stopped.
    case stopped
    /// The devices are being opened, or the first frames of the player are being read.
    case starting
    /// Audio runs.
    case running
    /// A stop was requested; files are being completed.
    case stopping
  }

  /// The current phase.
  public var phase = Phase.stopped
  /// The granted configuration of the devices; nil if none is open.
  public var configuration: DuplexConfiguration?
  /// The number of frames on the unit's timeline so far, including lost frames. It continues after
  /// a change of device. Like all counters, it keeps its value after a stop until the next start.
  public var frames = 0
  /// The sample rate of the unit in frames per second; it keeps its value after a stop, and is 0
  /// before the first start.
  public var sampleRate = 0
  /// The microphone's newest levels, those of the last 0.1 s, kept until new levels are available.
  /// Nil if they are not measured.
  public var levels: MeterReading?
  /// The output's newest levels, those of the last 0.1 s, kept until new levels are available:
  /// of all that is played, after effects, gains and limiter. Nil unless
  /// `DuplexEngine.Settings.measuresOutputLevels` is set and there is an output.
  public var outputLevels: MeterReading?
  /// The highest true peak that the output has had since the start, in dBTP; -200 for silence. Nil
  /// unless the output's levels are measured. Like `outputClippedFrames` it continues after a
  /// change of device.
  public var outputTruePeakDBTP: Double?
  /// The number of frames of the output with a sample beyond full scale, which the device clips; 0
  /// unless the output's levels are measured.
  public var outputClippedFrames = 0
  /// The number of capture overruns.
  public var captureXruns = 0
  /// The number of playback underruns.
  public var playbackXruns = 0
  /// The number of captured frames that reached no file and no output.
  public var lostFrames = 0
  /// The mean busy time of a cycle divided by the duration of a period, since the devices in use
  /// began: 1 is full load.
  public var loadMean = 0.0
  /// The number of frames that the limiter lowered, while the microphone was played.
  public var limitedFrames = 0
  /// The number of frames by which a limiter with a look-ahead delays the output.
  public var limiterDelayFrames = 0
  /// The drift between two clocks; nil if there is only one.
  public var drift: DriftReading?
  /// The priority that the audio thread was granted; nil in virtual time.
  public var priority: GrantedPriority?

  /// The progress of the devices that were used before the current ones.
  var earlier = RunProgress()

  /// The position on the timeline in seconds, each frame at the rate at which it was captured or
  /// played; after a stop the length of the last run, and 0 before the first run.
  public var seconds: Double { earlier.seconds(atFrame: frames, sampleRate: sampleRate) }

  /// The current latency from input to output in frames, without the delay of a limiter with a
  /// look-ahead, which is `limiterDelayFrames`; nil unless there are both directions.
  public var latencyFrames: Double? {
    guard let configuration, configuration.capture != nil, configuration.playback != nil else {
      return nil
    }
    return configuration.latencyFrames(with: drift)
  }

  /// Takes the progress of a session on a device with this configuration, whose audio thread was
  /// granted `priority`, after earlier sessions of the run with `report`.
  mutating func follow(
    _ snapshot: SessionSnapshot, _ configuration: DuplexConfiguration,
    _ priority: GrantedPriority?, after report: SessionReport = SessionReport()
  ) {
    frames = snapshot.frames
    levels = configuration.capture == nil ? nil : snapshot.loudestReading ?? levels
    captureXruns = report.captureXruns + snapshot.captureXruns
    playbackXruns = report.playbackXruns + snapshot.playbackXruns
    lostFrames = report.lostFrames + snapshot.lostFrames
    loadMean = snapshot.loadMean(configuration)
    drift = snapshot.drift
    self.priority = priority
  }

  /// Takes what the outputs of the run have reached so far.
  mutating func follow(_ output: OutputFigures) {
    limitedFrames = output.limitedFrames
    outputClippedFrames = output.clippedFrames
    outputTruePeakDBTP = output.truePeakDBTP
  }

  /// Takes what the outputs of the run have reached so far, and the newest levels of the one of
  /// this configuration; nil if there are no new ones.
  mutating func follow(
    _ output: OutputFigures, _ newestLevels: MeterReading?, _ configuration: DuplexConfiguration
  ) {
    follow(output)
    outputLevels = configuration.playback == nil ? nil : newestLevels ?? outputLevels
  }

  /// Resets all values except the phase at the beginning of a run.
  mutating func beginRun() {
    let phase = phase
    self = EngineStatus()
    self.phase = phase
  }
}

/// An event that an engine reports.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,xrun-at=0.5")
/// let subscription = engine.addEventHandler { event in
///   switch event {
///   case .timeline(let event): print("\(event.frames) frames lost at \(event.frame)")
///   case .stopped(let report): print("stopped after \(report.frames) frames")
///   default: break
///   }
/// }
/// try await engine.run(seconds: 1)
/// subscription.cancel()
/// ```
public enum EngineEvent: Sendable {
  /// Audio runs on these devices: after a start, and after a change of device.
  case running(DuplexConfiguration)
  /// An event of the timeline: an xrun, or a device that went away or returned.
  case timeline(TimelineEvent)
  /// The microphone howled and was lowered, or its gain is being restored.
  case feedback(FeedbackEvent)
  /// A recording began in the requested file; `recordingFinished` contains the actual names of its
  /// files.
  case recordingStarted(path: String)
  /// A recording is complete.
  case recordingFinished(RecordingReport)
  /// The engine has stopped, and all files are complete.
  case stopped(SessionReport)
}

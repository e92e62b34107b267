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
  /// Where an engine is in its life.
  public enum Phase: Sendable, Equatable {
    /// Not running: not started yet, or stopped.
    case stopped
    /// The device is being opened.
    case starting
    /// Sound runs.
    case running
    /// A stop was asked for; files are being completed.
    case stopping
  }

  /// Where it is in its life.
  public var phase = Phase.stopped
  /// The devices as they were granted; nil where none is open.
  public var configuration: DuplexConfiguration?
  /// Frames on the unit's timeline so far, lost ones included. It goes on over a change of device,
  /// and stays after a stop until the next start, as all that was counted.
  public var frames = 0
  /// Frames a second of the unit; after a stop as it was, and 0 before the first start.
  public var sampleRate = 0
  /// The microphone's newest levels, those of the last tenth of a second; the same until there are
  /// others. Nil where they are not measured.
  public var levels: MeterReading?
  /// Times the input overran.
  public var captureXruns = 0
  /// Times the output ran dry.
  public var playbackXruns = 0
  /// Captured frames that reached no file and no output.
  public var lostFrames = 0
  /// How two clocks are held together; nil where there is one.
  public var drift: DriftReading?
  /// The priority that the audio thread was given; nil where time is virtual.
  public var priority: GrantedPriority?

  /// How far the devices came that were used before the present ones.
  var earlier = RunProgress()

  /// Seconds on the timeline, each frame at the rate at which it was captured or played; after a
  /// stop the length of the run that is over, and 0 before the first.
  public var seconds: Double { earlier.seconds(atFrame: frames, sampleRate: sampleRate) }

  /// Frames from input to output as the unit keeps them now, without those of a limiter that looks
  /// ahead; nil without both directions.
  public var latencyFrames: Double? {
    guard let configuration, configuration.capture != nil, configuration.playback != nil else {
      return nil
    }
    return configuration.latencyFrames + Double(drift?.addedFrames ?? 0)
  }

  /// A run begins, which has counted nothing yet.
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
  /// Sound runs on these devices: after a start, and after a change of device.
  case running(DuplexConfiguration)
  /// Something happened on the timeline: an xrun, a device that went away or came back.
  case timeline(TimelineEvent)
  /// The microphone howled and was lowered, or fades in again.
  case feedback(FeedbackEvent)
  /// A recording began in the file that was asked for; `recordingFinished` has the names that its
  /// files got.
  case recordingStarted(path: String)
  /// A recording is complete.
  case recordingFinished(RecordingReport)
  /// It stopped. All files are complete.
  case stopped(SessionReport)
}

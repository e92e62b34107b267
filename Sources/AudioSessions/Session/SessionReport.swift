import AudioBasics
import AudioDevices
import RealtimeAudio

/// The result of a session: why it ended, its frames, xruns, events, load and latency.
public struct SessionReport: Sendable {
  /// The reason for which the session ended.
  public var stopReason = StopReason.end
  /// The failure of the device that ended the session; nil if it ended for another reason.
  public var failure: DeviceFailure? {
    if case .device(let failure) = stopReason { failure } else { nil }
  }
  /// The configuration of the device; of the last one, if there were several. Nil if no session has
  /// run.
  public var configuration: DuplexConfiguration?
  /// The length of the unit's timeline in frames, including lost frames.
  public var frames = 0
  /// The same length in seconds, each frame at the rate of the device at that time.
  public var seconds = 0.0
  /// The number of capture overruns.
  public var captureXruns = 0
  /// The number of playback underruns.
  public var playbackXruns = 0
  /// The number of captured frames that reached no file and no output.
  public var lostFrames = 0
  /// Every xrun on the timeline, and every loss and return of a device.
  public var events: [TimelineEvent] = []
  /// The mean busy time of a cycle divided by the duration of a period: 1 is full load.
  public var loadMean = 0.0
  /// The busy time of the longest cycle divided by the duration of a period.
  public var loadMax = 0.0
  /// The number of samples replaced by silence: NaN samples sent to the output, and NaN or infinite
  /// samples in played material.
  public var nanCount = 0
  /// The number of frames from input to output as reported by the driver; 0 if it reports none.
  public var reportedLatencyFrames = 0
  /// The drift between two clocks at the end; nil if there was only one.
  public var drift: DriftReading?
  /// The number of frames by which the delay from input to output was longer at the end than in the
  /// configuration.
  public var addedLatencyFrames: Int { drift?.addedFrames ?? 0 }
  /// The number of frames by which the callbacks delayed what they played, as a limiter with a
  /// look-ahead does.
  public var callbackDelayFrames = 0
  /// The latency from input to output at the end in frames: that of the configuration, of devices
  /// that deliver in steps, and of the callbacks. Nil unless there were both directions.
  ///
  /// ```swift
  /// var settings = DuplexEngine.Settings()
  /// settings.limitLookAheadSeconds = 0.005
  /// let engine = DuplexEngine(device: "sim:clock=free", settings)
  /// let report = try await engine.run(seconds: 1)
  /// precondition(report.latencyFrames == 512 + 240 && report.seconds == 1)
  /// ```
  public var latencyFrames: Double? {
    guard let configuration, configuration.capture != nil, configuration.playback != nil else {
      return nil
    }
    return configuration.latencyFrames(with: drift) + Double(callbackDelayFrames)
  }
  /// The drift and xruns of each secondary output at the end.
  public var secondaryOutputs: [SecondaryOutputReading] = []
  /// Whether a callback, or a call of the device's driver, did not return in time and was left to
  /// the system.
  public var isDeviceStuck = false
  /// The time in seconds before the user requested the end in which the device delivered and
  /// accepted no frames: the input of that time is lost. 0 in virtual time, and for less than two
  /// periods.
  public var stalledSeconds = 0.0
  /// The audio thread's priority; nil in virtual time, which needs no thread.
  public var priority: GrantedPriority?

  /// Creates the report of a session in which nothing has happened yet.
  public init() {}
}

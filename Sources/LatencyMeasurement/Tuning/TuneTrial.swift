import AudioDevices
import AudioSessions

/// A trial that `Tuning` requests: a setting, and how long it must run without an xrun.
public struct TuneStep: Sendable, Equatable {
  /// The setting to try.
  public var setting: TuneSetting
  /// The requested rate in frames per second; nil for the rate that the device selects.
  public var sampleRate: Int?
  /// The length in seconds of a whole trial.
  public var wholeSeconds: Double
  /// The length in seconds that the trial may take: less than `wholeSeconds` if the time of the
  /// search is nearly over.
  public var seconds: Double
  /// The approximate number of trials after this one.
  public var remainingTrials: Int

  /// Returns whether devices of this configuration run with the setting, at a rate of their own.
  /// Two clocks are synchronised by a resampler at any rate.
  public func isGranted(by configuration: DuplexConfiguration) -> Bool {
    (!configuration.isResampling || configuration.master != nil)
      && configuration.periodFrames == setting.periodFrames
      && configuration.headroomFrames == setting.headroomFrames
  }

  /// The length of the trial in frames at `sampleRate` frames per second.
  public func frameLimit(at sampleRate: Int) -> Int {
    Int(rounding: seconds * Double(sampleRate))
  }
}

/// The result of a trial run with one setting.
public struct TuneTrial: Sendable, Equatable {
  /// The setting that was tried.
  public var setting: TuneSetting
  /// The rate in frames per second.
  public var sampleRate: Int
  /// The duration of the run in seconds, on the device's clock.
  public var seconds: Double
  /// The number of overruns of the input.
  public var captureXruns: Int
  /// The number of underruns of the output.
  public var playbackXruns: Int
  /// The duration of the longest callback, relative to the period.
  public var loadMax: Double
  /// Whether the device accepted the setting.
  public var isGranted: Bool
  /// Whether the trial ran for its full length, or until its first xrun.
  public var isWhole: Bool
  /// The frames that are added to the output latency of period and headroom if two clocks are
  /// synchronized.
  public var addedFrames = 0

  /// Creates a trial with these figures, at `sampleRate` Hz.
  public init(
    setting: TuneSetting, sampleRate: Int, seconds: Double, captureXruns: Int = 0,
    playbackXruns: Int = 0, loadMax: Double = 0, isGranted: Bool = true, isWhole: Bool = true
  ) {
    self.setting = setting
    self.sampleRate = sampleRate
    self.seconds = seconds
    self.captureXruns = captureXruns
    self.playbackXruns = playbackXruns
    self.loadMax = loadMax
    self.isGranted = isGranted
    self.isWhole = isWhole
  }

  /// The number of times frames were lost.
  public var xruns: Int { captureXruns.clampedSum(playbackXruns) }

  /// Returns whether the trial ran to the end without an xrun and with every callback below
  /// `loadLimit`.
  public func isStable(loadLimit: Double) -> Bool {
    isWhole && seconds > 0 && !isRejected(loadLimit: loadLimit)
  }

  /// Returns whether the device refused the setting, an xrun occurred, or a callback took more than
  /// `loadLimit` of the period.
  public func isRejected(loadLimit: Double) -> Bool {
    !isGranted || xruns > 0 || loadMax > loadLimit
  }

  /// Creates the result of `step` on devices of `configuration` after a session with `report`.
  public init(_ step: TuneStep, _ configuration: DuplexConfiguration, _ report: SessionReport) {
    let wholeFrames = Int(rounding: step.wholeSeconds * Double(configuration.sampleRate))
    self.init(
      setting: step.setting, sampleRate: configuration.sampleRate,
      seconds: configuration.seconds(report.frames), captureXruns: report.captureXruns,
      playbackXruns: report.playbackXruns, loadMax: report.loadMax,
      isWhole: report.frames >= wholeFrames || report.captureXruns + report.playbackXruns > 0)
    addedFrames = Int(rounding: configuration.resamplerDelayFrames) + report.addedLatencyFrames
  }

  /// Creates the result of `step` on devices that do not support it; their rate is `sampleRate`
  /// frames per second, or 0 if that is unknown.
  public init(refused step: TuneStep, sampleRate: Int) {
    self.init(setting: step.setting, sampleRate: sampleRate, seconds: 0, isGranted: false)
  }
}

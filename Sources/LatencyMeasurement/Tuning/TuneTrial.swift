/// A period and a headroom, in frames.
public struct TuneSetting: Sendable, Equatable {
  /// Frames a callback gets.
  public var periodFrames: Int
  /// Frames queued ahead of the output when a callback runs.
  public var headroomFrames: Int

  /// A setting of these two.
  public init(periodFrames: Int, headroomFrames: Int) {
    self.periodFrames = periodFrames
    self.headroomFrames = headroomFrames
  }

  /// Frames from input to output.
  public var latencyFrames: Int { periodFrames + headroomFrames }
}

/// What came of a soak with one setting.
public struct TuneTrial: Sendable, Equatable {
  /// What was tried.
  public var setting: TuneSetting
  /// Frames a second.
  public var sampleRate: Int
  /// How long it ran, on the device's clock.
  public var seconds: Double
  /// Times the input overran.
  public var captureXruns: Int
  /// Times the output ran dry.
  public var playbackXruns: Int
  /// The longest callback, over the period.
  public var loadMax: Double
  /// Whether the device took the setting at all.
  public var isGranted: Bool

  /// A trial with these figures.
  public init(
    setting: TuneSetting, sampleRate: Int, seconds: Double, captureXruns: Int = 0,
    playbackXruns: Int = 0, loadMax: Double = 0, isGranted: Bool = true
  ) {
    self.setting = setting
    self.sampleRate = sampleRate
    self.seconds = seconds
    self.captureXruns = captureXruns
    self.playbackXruns = playbackXruns
    self.loadMax = loadMax
    self.isGranted = isGranted
  }

  /// Times frames were lost.
  public var xruns: Int { captureXruns + playbackXruns }

  /// Whether it ran to the end without an xrun and with every callback below `loadLimit`.
  public func isStable(loadLimit: Double) -> Bool {
    isGranted && seconds > 0 && xruns == 0 && loadMax <= loadLimit
  }
}

/// A search for the lowest latency that holds, as a picture: one row a trial.
///
/// Values that are no finite number are left out; without trials it says "nothing measured".
public struct TunePicture: Sendable {
  /// One setting that was tried, and how it went.
  public struct Trial: Sendable {
    /// Frames a period.
    public var periodFrames: Int
    /// Frames queued ahead of the output.
    public var headroomFrames: Int
    /// How long it ran, in seconds.
    public var seconds: Double
    /// How often frames were lost.
    public var xruns: Int
    /// The longest cycle's share of its period: 1 is all of it, more is too late.
    public var loadMax: Double
    /// Whether the setting held.
    public var isStable: Bool

    /// A trial with these settings and this outcome.
    public init(
      periodFrames: Int, headroomFrames: Int, seconds: Double, xruns: Int, loadMax: Double,
      isStable: Bool
    ) {
      self.periodFrames = periodFrames
      self.headroomFrames = headroomFrames
      self.seconds = seconds
      self.xruns = xruns
      self.loadMax = loadMax
      self.isStable = isStable
    }
  }

  /// What was tuned, as "hw:USB to hw:USB".
  public var title: String
  /// How it was tuned: the rate, what was varied.
  public var subtitle: String
  /// Frames a second.
  public var sampleRate: Int
  /// The trials in the order they were made.
  public var trials: [Trial]
  /// Which of the trials was chosen, from 0; nil when none was.
  public var chosen: Int?
  /// The load that a stable setting stays below, as a share of the period.
  public var loadLimit: Double

  /// A picture of these trials.
  public init(
    title: String, subtitle: String, sampleRate: Int, trials: [Trial], chosen: Int?,
    loadLimit: Double
  ) {
    self.title = title
    self.subtitle = subtitle
    self.sampleRate = sampleRate
    self.trials = trials
    self.chosen = chosen
    self.loadLimit = loadLimit
  }
}

extension TunePicture.Trial {
  /// From input to output, in frames.
  var latencyFrames: Double { Double(periodFrames) + Double(headroomFrames) }
}

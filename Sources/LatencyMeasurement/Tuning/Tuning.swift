import AudioBasics

/// A search for the lowest stable period and headroom of a device, from its first trial to its
/// result: which setting is tried next, at which rate and for how long. It is a value, independent
/// of devices and time.
///
/// The best setting of a `TuneSearch` is tried again for three times as long. If it fails, the next
/// safer settings follow. If no setting is stable at a rate that the device selected, the search
/// begins again at the next lower usual rate. `DeviceSelection.tune` in the module `Duplex` runs
/// the trials on devices.
///
/// ```swift
/// var tuning = Tuning(TuneSettings())
/// while let step = tuning.next() {
///   // A machine on which 100 frames from input to output are enough:
///   let isStable = step.setting.latencyFrames >= 100
///   tuning.note(
///     TuneTrial(
///       setting: step.setting, sampleRate: 48000, seconds: step.seconds,
///       captureXruns: isStable ? 0 : 1))
/// }
/// precondition(tuning.chosen?.latencyFrames == 100 && tuning.isConfirmed)
/// ```
public struct Tuning: Sendable {
  private enum Stage {
    case searching
    /// The setting is tried again for longer.
    case confirming(TuneSetting)
    case over
  }

  /// The factor by which a trial that confirms a setting is longer.
  private static let confirmation = 3.0
  /// The usual rates in frames per second, from the highest on.
  private static let usualRates = [192_000, 96_000, 48_000, 44_100]

  /// The settings of the search.
  public let settings: TuneSettings
  /// The trials so far.
  public private(set) var trials: [TuneTrial] = []
  /// The completed fraction of the search, 0 to 1. It does not decrease.
  public private(set) var done = 0.0
  /// The lowest stable setting, once the search is over; nil if there is none.
  public private(set) var chosen: TuneSetting?
  /// Whether a longer trial confirmed the chosen setting. The time of the search may be over before
  /// that.
  public private(set) var isConfirmed = false

  private var search: TuneSearch
  private var stage = Stage.searching
  private var sampleRate: Int?
  private var pending: TuneStep?

  /// Creates a search whose first trial is requested at the rate of `settings`.
  public init(_ settings: TuneSettings) {
    self.settings = settings
    search = TuneSearch(longest: settings.longestPeriodFrames)
    sampleRate = settings.sampleRate
  }

  /// The length in seconds of a whole trial that confirms a setting.
  public var confirmationSeconds: Double { settings.trialSeconds * Self.confirmation }

  /// Whether the time for all trials is over, except for less than a frame.
  public var isTimeOver: Bool { secondsLeft.map { $0 < 1e-5 } ?? false }

  /// Returns the trial to run now; nil if the search is over. `note` records the result.
  public mutating func next() -> TuneStep? {
    if let pending { return pending }
    if isTimeOver { settle() }
    while true {
      switch stage {
      case .searching:
        if let setting = search.next() {
          // One more trial confirms the best setting.
          return request(setting, settings.trialSeconds, remaining: search.remainingTrials + 1)
        }
        consider(search.best)
      case .confirming(let setting):
        return request(setting, confirmationSeconds, remaining: 0)
      case .over: return nil
      }
    }
  }

  /// Records the result of the trial that `next` returned.
  public mutating func note(_ trial: TuneTrial) {
    guard let step = pending else { return }
    pending = nil
    trials.append(trial)
    done = max(done, Double(trials.count) / Double(trials.count + step.remainingTrials))
    switch stage {
    case .searching: search.note(isStable: trial.isStable(loadLimit: settings.loadLimit))
    case .confirming(let setting) where trial.isRejected(loadLimit: settings.loadLimit):
      search.refuse(setting)
      consider(search.above(setting))
    case .confirming(let setting):
      choose(setting, isConfirmed: trial.isWhole)
    case .over: break
    }
  }

  private var secondsLeft: Double? {
    settings.totalSeconds.map { total in total - trials.reduce(0) { $0 + $1.seconds } }
  }

  private mutating func request(
    _ setting: TuneSetting, _ wholeSeconds: Double, remaining: Int
  ) -> TuneStep {
    let step = TuneStep(
      setting: setting, sampleRate: sampleRate, wholeSeconds: wholeSeconds,
      seconds: min(wholeSeconds, secondsLeft ?? wholeSeconds), remainingTrials: remaining)
    pending = step
    return step
  }

  /// Confirms `setting` next. If it is nil, the search begins again at a lower rate, if there is
  /// one.
  private mutating func consider(_ setting: TuneSetting?) {
    if let setting {
      stage = .confirming(setting)
    } else if !isTimeOver, let lower = lowerRate {
      sampleRate = lower
      search = TuneSearch(longest: settings.longestPeriodFrames)
      stage = .searching
    } else {
      stage = .over
    }
  }

  /// Ends the search with the best setting so far.
  private mutating func settle() {
    switch stage {
    case .searching:
      if let best = search.best { choose(best, isConfirmed: false) } else { stage = .over }
    case .confirming(let setting): choose(setting, isConfirmed: false)
    case .over: break
    }
  }

  private mutating func choose(_ setting: TuneSetting, isConfirmed: Bool) {
    chosen = setting
    self.isConfirmed = isConfirmed
    stage = .over
  }

  /// The next lower usual rate; nil if there is none, or if the settings name a rate.
  private var lowerRate: Int? {
    let granted = trials.last(where: \.isGranted) ?? trials.first { $0.sampleRate > 0 }
    guard settings.sampleRate == nil, let rate = sampleRate ?? granted?.sampleRate else {
      return nil
    }
    return Self.usualRates.first { $0 < rate }
  }
}

/// A trial's figures as text.
struct TrialText: Sendable {
  let trial: TunePicture.Trial
  let rate: FrameRate

  var setting: String { "\(trial.periodFrames) + \(trial.headroomFrames)" }

  /// "128 frames, 2.667 ms"
  var latency: String {
    guard trial.latencyFrames.isDrawable else { return "not measured" }
    return rate.frames(trial.latencyFrames) + ", " + rate.milliseconds(trial.latencyFrames)
  }

  var load: String { Self.percent(trial.loadMax) }

  var seconds: String {
    guard trial.seconds.isDrawable else { return "\u{2013}" }
    return NumberText.shortest(trial.seconds, decimals: 1) + " s"
  }

  var verdict: String { trial.isStable ? "stable" : "refused" }

  static func percent(_ share: Double) -> String {
    guard share.isDrawable else { return "\u{2013}" }
    return NumberText.fixed(share * 100, decimals: 0) + " %"
  }
}

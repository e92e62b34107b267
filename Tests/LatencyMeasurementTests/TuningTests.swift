import LatencyMeasurement
import Testing

/// Tests of whole searches on machines on which only certain settings are stable.
@Suite struct TuningTests {
  /// Runs all trials of `settings` on a machine on which the steps that `holds` accepts have no
  /// xrun. Trials of the device run at `rate` if no other one is requested.
  private func tuned(
    _ settings: TuneSettings = TuneSettings(), rate: Int = 48000,
    stoppingAt xrunSeconds: Double = 0,
    _ holds: (TuneStep) -> Bool
  ) -> (tuning: Tuning, steps: [TuneStep]) {
    var tuning = Tuning(settings)
    var steps: [TuneStep] = []
    while let step = tuning.next(), steps.count < 200 {
      steps.append(step)
      let isStable = holds(step)
      tuning.note(
        TuneTrial(
          setting: step.setting, sampleRate: step.sampleRate ?? rate,
          seconds: isStable ? step.seconds : xrunSeconds, captureXruns: isStable ? 0 : 1,
          isWhole: !isStable || step.seconds >= step.wholeSeconds))
    }
    return (tuning, steps)
  }

  @Test func `the best setting is confirmed by a trial of three times the length`() {
    let (tuning, steps) = tuned { $0.setting.latencyFrames >= 100 }
    #expect(tuning.chosen == TuneSetting(periodFrames: 64, headroomFrames: 36))
    #expect(tuning.isConfirmed && !tuning.isTimeOver && tuning.done == 1)
    #expect(steps.last?.setting == tuning.chosen && steps.last?.seconds == 30)
    #expect(steps.dropLast().allSatisfy { $0.seconds == 10 && $0.sampleRate == nil })
    #expect(tuning.trials.count == steps.count)
  }

  @Test func `a setting that fails its longer trial is replaced by the next safer one`() {
    let (tuning, steps) = tuned {
      $0.setting.latencyFrames >= ($0.wholeSeconds > 10 ? 200 : 100)
    }
    #expect(tuning.isConfirmed && tuning.chosen.map { $0.latencyFrames >= 200 } == true)
    #expect(steps.filter { $0.wholeSeconds > 10 }.count > 1)
  }

  @Test func `without a stable setting the search continues at the next lower usual rate`() {
    let (tuning, steps) = tuned(rate: 96000) { $0.sampleRate == 48000 }
    #expect(tuning.chosen != nil && tuning.isConfirmed)
    #expect(steps.first?.sampleRate == nil && steps.last?.sampleRate == 48000)
    let (none, all) = tuned(rate: 96000) { _ in false }
    #expect(none.chosen == nil && !none.isConfirmed)
    #expect(all.last?.sampleRate == 44100)
  }

  @Test func `a requested rate is not lowered`() {
    var settings = TuneSettings()
    settings.sampleRate = 96000
    let (tuning, steps) = tuned(settings) { _ in false }
    #expect(tuning.chosen == nil && steps.allSatisfy { $0.sampleRate == 96000 })
  }

  @Test(arguments: [0.5, 10, 25, 65, 90])
  func `trials together take no longer than the total`(total: Double) {
    var settings = TuneSettings()
    settings.totalSeconds = total
    let (tuning, steps) = tuned(settings) { $0.setting.latencyFrames >= 300 }
    let seconds = tuning.trials.reduce(0) { $0 + $1.seconds }
    #expect(seconds <= total + 1e-5)
    #expect(tuning.isTimeOver == (seconds > total - 1e-5))
    if tuning.isTimeOver { #expect(!tuning.isConfirmed) }
    // A whole trial that passed is a result, even if there is no time to confirm it.
    let isFound = zip(steps, tuning.trials).contains {
      $0.seconds >= $0.wholeSeconds && $1.isStable(loadLimit: settings.loadLimit)
    }
    #expect((tuning.chosen != nil) == isFound)
  }

  @Test func `a trial in which a callback exceeds the margin is rejected`() {
    var settings = TuneSettings()
    settings.marginPercent = 50
    var tuning = Tuning(settings)
    while let step = tuning.next() {
      let load = step.setting.periodFrames < 256 ? 0.51 : 0.49
      tuning.note(
        TuneTrial(
          setting: step.setting, sampleRate: 48000, seconds: step.seconds, loadMax: load))
    }
    #expect(tuning.chosen == TuneSetting(periodFrames: 256, headroomFrames: 1))
  }

  @Test(arguments: [Double.nan, 0, 0.09, 86_401, .infinity])
  func `a length of a trial out of its range is refused`(seconds: Double) {
    var settings = TuneSettings()
    settings.trialSeconds = seconds
    #expect(throws: (any Error).self) { try settings.validate() }
  }

  @Test(arguments: [Double.nan, -1, 99.5])
  func `a margin out of its range is refused`(percent: Double) {
    var settings = TuneSettings()
    settings.marginPercent = percent
    #expect(throws: (any Error).self) { try settings.validate() }
    #expect(throws: Never.self) { try TuneSettings().validate() }
  }
}

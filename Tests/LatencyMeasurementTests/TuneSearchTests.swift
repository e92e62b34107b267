import LatencyMeasurement
import Testing

/// Tests of searches on machines on which only certain settings are stable.
@Suite struct TuneSearchTests {
  /// Returns the search's result and its trials, for a machine on which the settings that `holds`
  /// accepts are stable.
  private func search(_ holds: (TuneSetting) -> Bool) -> (best: TuneSetting?, trials: [TuneSetting])
  {
    var search = TuneSearch()
    var trials: [TuneSetting] = []
    while let setting = search.next(), trials.count < 100 {
      trials.append(setting)
      search.note(isStable: holds(setting))
    }
    return (search.best, trials)
  }

  @Test func `the search finds the smallest setting if all are stable`() {
    let found = search { _ in true }
    #expect(found.best == TuneSetting(periodFrames: 16, headroomFrames: 1))
    #expect(found.trials.count < 12)
  }

  @Test func `the search finds nothing if no setting is stable`() {
    #expect(search { _ in false }.best == nil)
  }

  @Test(arguments: [17, 33, 64, 100, 200, 500, 1500])
  func `the result is stable and at most an eighth above the minimum latency`(minimum: Int) throws {
    // The number of frames that must be queued, independently of the period.
    let holds = { (setting: TuneSetting) in setting.latencyFrames >= minimum }
    let found = search(holds)
    let best = try #require(found.best)
    #expect(holds(best))
    #expect(best.latencyFrames < minimum + max(2, minimum / 8))
    #expect(found.trials.count < 20)
  }

  @Test(arguments: [17, 40, 192, 400])
  func `a device that moves in steps gets a short period and sufficient headroom`(step: Int)
    throws
  {
    let holds = { (setting: TuneSetting) in setting.headroomFrames >= step }
    let best = try #require(search(holds).best)
    #expect(best.periodFrames == 16)
    #expect(holds(best))
    #expect(best.headroomFrames < step + max(2, step / 8))
  }

  @Test func `no setting is tried twice`() {
    for minimum in [20, 70, 130, 300] {
      let trials = search { $0.latencyFrames >= minimum }.trials
      for (index, setting) in trials.enumerated() {
        #expect(!trials[..<index].contains(setting))
      }
    }
  }

  @Test func `a failed setting and all smaller ones are not tried again`() {
    var search = TuneSearch()
    let failed = TuneSetting(periodFrames: 64, headroomFrames: 64)
    search.refuse(failed)
    while let setting = search.next() {
      #expect(setting.periodFrames > 64 || setting.headroomFrames > 64)
      search.note(isStable: true)
    }
    #expect(search.above(TuneSetting(periodFrames: 32, headroomFrames: 16)) != failed)
    #expect(search.above(TuneSetting(periodFrames: 1024, headroomFrames: 1024)) == nil)
  }

  @Test(arguments: [Int.min, -1, 0, 1, 64, .max], [Int.min, -1, 0, 1, 64, .max])
  func `the next safer setting of any setting is larger and not refused`(
    period: Int, headroom: Int
  ) {
    var search = TuneSearch(longest: 128)
    let setting = TuneSetting(periodFrames: period, headroomFrames: headroom)
    for _ in 0..<20 {
      guard let next = search.above(setting) else { return }
      #expect(next.periodFrames > period || next.headroomFrames > headroom)
      #expect(next.periodFrames <= 128)
      search.refuse(next)
    }
    Issue.record("The search does not end.")
  }

  @Test(arguments: [true, false])
  func `a search from an impossible period ends`(isStable: Bool) {
    var search = TuneSearch(longest: .max, shortest: .min)
    var settings: [TuneSetting] = []
    while let setting = search.next(), settings.count < 1000 {
      settings.append(setting)
      search.note(isStable: isStable)
    }
    #expect(settings.count < 100 && settings.allSatisfy { $0.periodFrames <= 65536 })
  }

  @Test func `the latency and the xruns of impossible numbers are the largest integer`() {
    let setting = TuneSetting(periodFrames: .max, headroomFrames: .max)
    #expect(setting.latencyFrames == .max)
    let trial = TuneTrial(
      setting: setting, sampleRate: 48000, seconds: 1, captureXruns: .max, playbackXruns: .max)
    #expect(trial.xruns == .max && trial.isRejected(loadLimit: 1))
  }
}

import AudioClocks
import AudioDevices
import Testing

@testable import SimulatedDevices

/// Tests of devices that deliver and accept frames in steps larger than the period, as sound
/// servers do.
struct StepTests {
  @Test(arguments: [192, 480, 1024, 2048], [64, 256])
  func `steps larger than the period add the stated delay and cause no xrun`(
    step: Int, period: Int
  ) throws {
    let run = try UnitRun(
      settings: "batch=\(step),drift=100", frames: 16 * 48000, period: period, resamplerQuality: 3
    ).runOnTwoClocks()
    let late = run.events.filter { $0.frame > 48000 }
    #expect(late.isEmpty)
    let drift = try #require(run.drift)
    #expect(abs(drift.ppm - 100) < 1 && abs(drift.errorFrames) < 1)
    // A step must fit in addition to the frames that the period and half of the headroom already
    // hold.
    let minimum = step - period - period / 2
    #expect(drift.addedFrames >= minimum && drift.addedFrames <= max(0, minimum) + step / 8 + 64)
  }

  @Test(arguments: [480, 1024, 2048])
  func `steps that are sometimes late cause no xrun after the first second`(step: Int) throws {
    let run = try UnitRun(
      settings: "batch=\(step),jitter=2,drift=-100", frames: 16 * 48000, period: 256,
      resamplerQuality: 3
    ).runOnTwoClocks()
    #expect(run.events.filter { $0.frame > 48000 }.isEmpty)
  }

  /// Two periods are a third of the lateness of the clocks' readings. The output plays silence
  /// until its clock is known more accurately than that.
  @Test(arguments: [512, 1024, 2048], ClockMaster.allCases)
  func `late steps cause no xrun although the period is much shorter`(
    step: Int, master: ClockMaster
  ) throws {
    for ppm in [-100, 100] {
      let run = try UnitRun(
        settings: "batch=\(step),jitter=2,drift=\(ppm)", master: master, frames: 16 * 48000,
        period: 16,
        resamplerQuality: 3
      ).runOnTwoClocks()
      #expect(run.events.filter { $0.frame > 48000 }.isEmpty)
      // The readings of two such clocks are not more accurate (FilteredClockTests): 2.5 deviations.
      let bound = 2.5 * 1.41 * 5e6 * 0.002 * Double(step) / 48_000 / (15 * 15)
      let drift = try #require(run.drift)
      #expect(abs(drift.ppm - Double(ppm)) < 1 + bound)
      #expect(abs(drift.errorFrames) < 1 + 1.5 * bound)
    }
  }

  @Test(arguments: [192, 480, 1024, 2048], ClockMaster.allCases)
  func `every frame that arrives too late is in a gap`(step: Int, master: ClockMaster) throws {
    let run = try UnitRun(
      settings: "batch=\(step),jitter=2,drift=100", master: master, frames: 4 * 48000,
      resamplerQuality: 3
    ).runOnTwoClocks()
    let gaps = run.events.reduce(0) { $0 + $1.frames }
    #expect(gaps == run.lostFrames)
  }

  @Test func `a device without steps gets no additional delay`() throws {
    let run = try UnitRun(settings: "drift=100", frames: 4 * 48000, period: 64).runOnTwoClocks()
    #expect(run.drift?.addedFrames == 0)
  }

  /// The test runs for 40 seconds, because 24 readings per second that are 0 to 2 ms late do not
  /// give the clock's rate to 1 ppm in less than 25 seconds (Scripts/step-table).
  @Test(arguments: [512, 1024, 2048], [64, 256])
  func `the rate is found within 1 ppm although steps are late`(step: Int, period: Int) throws {
    let run = try UnitRun(
      settings: "batch=\(step),jitter=2,drift=100", frames: 40 * 48000, period: period,
      resamplerQuality: 3
    ).runOnTwoClocks()
    let drift = try #require(run.drift)
    #expect(abs(drift.ppm - 100) < 1)
    #expect(run.events.reduce(0) { $0 + $1.frames } == run.lostFrames)
  }
}

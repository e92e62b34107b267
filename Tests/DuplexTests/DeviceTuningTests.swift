import Duplex
import Testing

/// Tests of the search for the lowest stable setting on simulated devices in virtual time.
@Suite struct DeviceTuningTests {
  private func failure(
    of device: String, _ settings: TuneSettings = TuneSettings()
  ) -> OpeningFailure? {
    do throws(OpeningFailure) {
      _ = try DeviceSelection(device: device).tune(settings)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a device without xruns gets the shortest period and a headroom of one frame`()
    throws
  {
    let tuning = try DeviceSelection(device: "sim:clock=free").tune()
    #expect(tuning.chosen == TuneSetting(periodFrames: 16, headroomFrames: 1))
    #expect(tuning.isConfirmed && tuning.trials.last?.seconds == 30)
    #expect(tuning.trials.allSatisfy { $0.isGranted && $0.sampleRate == 48000 })
  }

  @Test func `a device with an xrun in each trial has no stable setting`() throws {
    var selection = DeviceSelection(device: "sim:clock=free,xrun-at=0.5")
    selection.request.sampleRate = 48000
    let tuning = try selection.tune()
    #expect(tuning.chosen == nil && !tuning.isConfirmed)
    // Each trial ends with its first xrun.
    #expect(tuning.trials.allSatisfy { $0.xruns == 1 && $0.seconds < 1 })
  }

  @Test func `a search that is stopped has trials, but no result`() throws {
    var calls = 0
    let tuning = try DeviceSelection(device: "sim:clock=free").tune { search in
      calls += 1
      return search.trials.count == 2
    }
    #expect(tuning.chosen == nil && tuning.trials.count == 2 && calls > 100)
  }

  @Test func `settings out of range, wrong names and lost devices are failures`() {
    var settings = TuneSettings()
    settings.marginPercent = 100
    guard case .device(let invalid) = failure(of: "sim:clock=free", settings) else {
      Issue.record("The margin is accepted.")
      return
    }
    #expect(invalid.kind == .invalidRequest && invalid.message.contains("0 to 99 percent"))
    #expect(failure(of: "sim:nonsense=1") != nil)
    guard case .device(let lost) = failure(of: "sim:clock=free,unplug-at=1") else {
      Issue.record("The loss of the device is not reported.")
      return
    }
    #expect(lost.kind == .lost)
  }
}

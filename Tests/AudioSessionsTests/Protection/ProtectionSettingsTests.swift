import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio
import Testing

/// Tests of the ranges of the settings that protect a listener.
struct ProtectionSettingsTests {
  private func refusal(_ change: (inout ProtectionSettings) -> Void) -> DeviceFailure? {
    var settings = ProtectionSettings()
    change(&settings)
    do throws(DeviceFailure) {
      try settings.validate()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 0.1, -60.1])
  func `a limit out of its range is refused`(limit: Double) {
    let found = refusal { $0.limitDBFS = limit }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.message == "limitDBFS must be -60 to 0 dBFS, or nil: \(limit) is not.")
  }

  @Test(arguments: [Double.nan, .infinity, -1, -0.001, 0.101])
  func `a look-ahead out of its range is refused`(seconds: Double) {
    let found = refusal { $0.limitLookAheadSeconds = seconds }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.message == "limitLookAheadSeconds must be 0 to 0.1: \(seconds) is not.")
  }

  @Test(arguments: [Gain(decibels: 0.1), Gain(factor: .infinity)])
  func `a dim that amplifies is refused`(dim: Gain) {
    let found = refusal { $0.dimGain = dim }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.message.contains("dimGain must be 0 dB or less") == true)
  }

  @Test(arguments: [-60, -1, 0, nil] as [Double?], [0, 0.1])
  func `values at the ends of their ranges are accepted`(limit: Double?, seconds: Double) {
    for dim in [Gain.silence, .unity] {
      let found = refusal {
        ($0.limitDBFS, $0.limitLookAheadSeconds, $0.dimGain) = (limit, seconds, dim)
      }
      #expect(found == nil)
    }
  }

  @Test func `an output is dimmed by 20 dB unless another gain is set`() {
    #expect(ProtectionSettings().dimGain == Gain(decibels: -20))
    let protection = MonitorProtection(sampleRate: 48000, dimRequest: PublishedFlag().makeView())
    let dim = protection.dimGain
    #expect(dim == Gain(decibels: -20))
  }
}

import FakePCM
import Testing

@testable import AudioDevices

/// Tests of the rate that a device gets if none is requested.
@Suite struct PreferredRateTests {
  @Test(arguments: [(0, 44100), (48000, 48000)])
  func `a preferred rate is used if the device supports it, and nothing is resampled`(
    only: Int, granted: Int
  ) throws {
    let pcm = FakePCM.make()
    pcm.pointee.rate = only
    var request = DuplexRequest.fake(nil, pcm)
    request.sampleRate = nil
    request.preferredSampleRate = 44100
    var device = try ALSADuplex(opening: request)
    #expect(device.configuration.sampleRate == granted)
    #expect(device.configuration.periodFrames == 64)
    #expect(!device.configuration.needsResampling(for: request))
    device.close()
    request.preferredSampleRate = -1
    #expect(throws: DeviceFailure.self) { try request.validate() }
  }
}

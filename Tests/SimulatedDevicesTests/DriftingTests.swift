import AudioDevices
import Foundation
import Testing

@testable import SimulatedDevices

struct DriftingTests {
  private static let pitch = 997.0 / 48000

  private func tone(_ frames: Int) -> [Float] {
    (0..<frames).map { Float(0.89 * sine(Self.pitch, at: Double($0))) }
  }

  @Test(arguments: ["drift=100", "drift=-1000", "drift=100,batch=48,jitter=1", "drift=5000"])
  func `the input is heard at the output's pace and a known delay`(settings: String) throws {
    let seconds = 12
    let run = try runDrifting(
      settings, feeding: tone((seconds + 1) * 48000), frames: seconds * 48000)
    let ppm = try SimulatedDeviceSpecification(parsing: "sim:" + settings).driftPPM
    let extra = run.configuration.resamplerDelayFrames
    let leads = lead(
      run.heard, cyclesPerFrame: Self.pitch, block: 480, from: 48000
    ) { (($0 - extra) * (1 + ppm * 1e-6)) }
    let worst = leads.dropFirst(600).map(abs).max() ?? 9
    print(settings, "first", leads.first ?? 0, "worst", worst, run.drift ?? "")
    #expect(run.captureXruns == 0 && run.playbackXruns == 0 && run.lostFrames == 0)
    #expect(worst < 1)
    #expect(abs((run.drift?.ppm ?? 0) - ppm) < 2)
  }
}

import Duplex
import Glibc

/// Runs a `DuplexEngine` with the settings of `duplex monitor -D sim:clock=free -f S16_LE -p 64`,
/// so that its instructions can be counted.
func runEngine(seconds: Double) -> Never {
  var request = DuplexRequest(captureDevice: "sim:clock=free", playbackDevice: "sim:clock=free")
  request.format = .s16LE
  request.periodFrames = 64
  let engine = DuplexEngine(DeviceSelection(request))
  Task {
    do {
      let report = try await engine.run(seconds: seconds)
      print("\(report.frames) frames")
      exit(0)
    } catch {
      print(error)
      exit(1)
    }
  }
  while true { pause() }
}

import AudioBasics
import AudioDevices
import SimulatedDevices

struct Echo: DuplexCallbacks, ~Copyable {
  var buffer = SampleBuffer(frameCount: 64, channelCount: 2)  // yours, and stays so
  @_noLocks mutating func input(_ input: borrowing InputCycle) { input.render(into: &buffer) }
  @_noLocks mutating func output(_ output: inout OutputCycle) { output.play(buffer) }
}

func monitorForASecond() throws {
  var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
  request.periodFrames = 64
  let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free")
  let device = try SimulatedDevice(wire, request: request)  // or ALSADuplex(opening: request)
  let progress = UnitProgress()
  var unit = DuplexUnit(device: device, callbacks: Echo(), progress: progress, frameLimit: 48000)
  try unit.start()
  if let failure = unit.run() { throw failure }
  print("\(progress.frames) frames, \(progress.captureXruns) xruns")
}

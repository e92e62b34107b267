// LatencyMeter DEVICE: measures the round trip from an output through a cable or the air to an
// input.
import Duplex

/// Plays noise bursts on the devices of `selection` and detects them in the input.
func measure(_ selection: DeviceSelection) throws -> (trips: RoundTrips, sampleRate: Int) {
  let open = try OpenDevice(opening: selection)
  let (configuration, clock) = (open.configuration, open.clock)
  var probe = ProbeSession(ProbePlan(configuration), periodFrames: configuration.periodFrames)
  let listener = probe.listener
  guard let callbacks = probe.takeCallbacks() else { return (RoundTrips(), 0) }
  let runner = SessionRunner(
    device: open.device, callbacks: callbacks, background: open.background + [listener],
    meter: nil, frameLimit: nil)
  _ = try runner.run(clock: clock) { _, _ in listener.isDone ? .stop(.end) : .proceed }
  return (listener.result, configuration.sampleRate)
}

let arguments = CommandLine.arguments
let measured = try measure(DeviceSelection(device: arguments.count > 1 ? arguments[1] : "default"))
if let best = measured.trips.main, !best.frames.isEmpty {
  let frames = best.frames.sorted()[best.frames.count / 2]
  print("Round trip \(frames) frames, \(frames / Double(measured.sampleRate) * 1000) ms")
  print("Signal to noise \(best.signalToNoiseDB) dB")
} else {
  print("Nothing came back: connect the output to the input.")
}

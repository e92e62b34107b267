// StatusPage DEVICE [SECONDS]: prints the status of a monitor, one JSON object per line.
import Duplex

func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "null" }

func json(_ status: EngineStatus) -> String {
  var fields = [
    "\"phase\":\"\(status.phase)\"", "\"seconds\":\(number(status.seconds))",
    "\"xruns\":{\"capture\":\(status.captureXruns),\"playback\":\(status.playbackXruns)}",
    "\"lostFrames\":\(status.lostFrames)",
  ]
  if let latency = status.latencyFrames { fields.append("\"latencyFrames\":\(number(latency))") }
  if let levels = status.levels {
    fields.append("\"peakDBFS\":[\(levels.peakDBFS.map(number).joined(separator: ","))]")
    fields.append("\"rmsDBFS\":[\(levels.rmsDBFS.map(number).joined(separator: ","))]")
  }
  if let drift = status.drift { fields.append("\"driftPPM\":\(number(drift.ppm))") }
  return "{\(fields.joined(separator: ","))}"
}

let arguments = CommandLine.arguments
let engine = DuplexEngine(device: arguments.count > 1 ? arguments[1] : "default")
let lastSeconds = MutexBox(-1.0)
engine.addStatusHandler { status in
  // Ten per second, and the last one.
  let isDue = lastSeconds.withLock { lastSeconds in
    guard status.phase != .running || status.seconds - lastSeconds >= 0.1 else { return false }
    lastSeconds = status.seconds
    return true
  }
  if isDue { print(json(status)) }
}
try await engine.run(seconds: arguments.count > 2 ? Double(arguments[2]) ?? 60 : 60)

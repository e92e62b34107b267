// Talkback DEVICE SONG... [--output OUTPUT.wav]: plays songs, and lowers them by 18 dB while
// somebody speaks.
import Duplex

var arguments = Array(CommandLine.arguments.dropFirst())
var settings = DuplexEngine.Settings()
settings.endsWithPlayer = true
let device = arguments.isEmpty ? "default" : arguments.removeFirst()
let engine = DuplexEngine(device: device, settings)
if let index = arguments.firstIndex(of: "--output"), index + 1 < arguments.count {
  var recording = RecordingSettings()
  recording.source = .output
  try await engine.record(to: arguments[index + 1], recording)
  arguments.removeSubrange(index...index + 1)
}
for path in arguments { engine.player.enqueue(path: path) }

/// The time in seconds until which the songs stay low.
let lowUntil = MutexBox(-1.0)
let player = engine.player
engine.addStatusHandler { status in
  guard let levels = status.levels else { return }
  let isSpeaking = levels.peakDBFS.contains { $0 > -30 }
  let isLow = lowUntil.withLock { until in
    let was = until
    if isSpeaking { until = status.seconds + 0.8 }
    if (status.seconds < until) != (was > 0) {
      print("\(status.seconds) s: \(status.seconds < until ? "speech" : "music")")
      if status.seconds >= until { until = -1 }
    }
    return status.seconds < until
  }
  player.gain = isLow ? Gain(decibels: -18) : .unity
}
player.play()
try await engine.start()
await engine.finished()

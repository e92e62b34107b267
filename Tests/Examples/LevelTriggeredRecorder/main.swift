// LevelTriggeredRecorder DEVICE FILE [SECONDS] [DBFS]: records sounds above a threshold, with half
// a second before and after them.
import Duplex

let arguments = CommandLine.arguments
guard arguments.count > 2 else {
  fatalError("usage: LevelTriggeredRecorder DEVICE FILE [SECONDS] [DBFS]")
}
let threshold = arguments.count > 4 ? Double(arguments[4]) ?? -40 : -40
var settings = RecordingSettings()
settings.gate = { sampleRate, channelCount in
  var voice = VoiceSettings(
    sampleRate: sampleRate, channelCount: channelCount, thresholdDBFS: threshold)
  voice.preRollSeconds = 0.5
  voice.holdSeconds = 0.5
  voice.tailSeconds = 0.5
  return VoiceGate(voice)
}
let engine = DuplexEngine(input: arguments[1], output: nil)
let recording = try await engine.record(to: arguments[2], settings)
try await engine.run(seconds: arguments.count > 3 ? Double(arguments[3]) ?? 60 : 60)
for segment in recording.report?.segments ?? [] { print(segment) }
print("\(recording.report?.frames ?? 0) frames kept")

// LooperPedal DEVICE [LOOP-SECONDS] [SECONDS] [OUTPUT.wav]: repeats the input in a loop and adds
// further input to it. The Enter key stops adding, or starts it again.
import Duplex

struct Looper: AudioEffect, ~Copyable {
  let seconds: Double
  var overdub: ParameterRamp
  var loop = SampleBuffer(frameCount: 0, channelCount: 1)
  var place = 0

  init(seconds: Double, overdub: EffectParameter) {
    self.seconds = seconds
    self.overdub = overdub.makeRamp()
  }

  mutating func prepare(_ format: EffectFormat) {
    overdub.prepare(format)
    let frames = max(1, Int(clamping: seconds * Double(format.sampleRate)))
    loop = SampleBuffer(frameCount: frames, channelCount: format.channelCount)
    place = 0
  }

  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    for frame in 0..<frames.count {
      let amount = overdub.next()
      for channel in 0..<frames.channelCount {
        let index = place * frames.channelCount + channel
        let (repeated, played) = (loop[index], frames[frame, channel])
        frames[frame, channel] = played + repeated
        loop[index] = repeated + amount * played
      }
      place = place + 1 == loop.frameCount ? 0 : place + 1
    }
  }
}

let arguments = CommandLine.arguments
let overdub = EffectParameter(1, in: 0...1)
let engine = DuplexEngine(device: arguments.count > 1 ? arguments[1] : "default")
engine.insert(
  Looper(seconds: arguments.count > 2 ? Double(arguments[2]) ?? 4 : 4, overdub: overdub))
if arguments.count > 4 {
  var settings = RecordingSettings()
  settings.source = .output
  try await engine.record(to: arguments[4], settings)
}
let pedal = Task.detached {
  while readLine() != nil { overdub.value = 1 - overdub.value }
}
try await engine.run(seconds: arguments.count > 3 ? Double(arguments[3]) ?? 60 : 60)
pedal.cancel()

// Compressor DEVICE [SECONDS] [OUTPUT.wav]: compresses levels above -30 dBFS with a ratio of 4:1,
// and raises the output by 12 dB.
import Duplex

struct Compressor: AudioEffect, ~Copyable {
  var threshold: ParameterRamp
  var makeUp: ParameterRamp
  var envelope: Float = 0
  var attack: Float = 0
  var release: Float = 0

  init(threshold: EffectParameter, makeUp: EffectParameter) {
    self.threshold = threshold.makeRamp()
    self.makeUp = makeUp.makeRamp()
  }

  mutating func prepare(_ format: EffectFormat) {
    threshold.prepare(format)
    makeUp.prepare(format)
    attack = RealtimeMath.exp(-1 / (0.005 * Float(format.sampleRate)))
    release = RealtimeMath.exp(-1 / (0.1 * Float(format.sampleRate)))
  }

  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    for frame in 0..<frames.count {
      var peak: Float = 0
      for channel in 0..<frames.channelCount { peak = max(peak, abs(frames[frame, channel])) }
      let coefficient = peak > envelope ? attack : release
      envelope = peak + coefficient * (envelope - peak)
      let limit = threshold.next()
      let gain = envelope > limit ? RealtimeMath.pow(limit / envelope, 0.75) : 1
      let factor = gain * makeUp.next()
      for channel in 0..<frames.channelCount { frames[frame, channel] *= factor }
    }
  }
}

let arguments = CommandLine.arguments
let threshold = EffectParameter(0.0316, in: 0.0001...1)  // -30 dBFS; both can be set at any time
let makeUp = EffectParameter(4, in: 0...100)
let engine = DuplexEngine(device: arguments.count > 1 ? arguments[1] : "default")
engine.insert(Compressor(threshold: threshold, makeUp: makeUp))
if arguments.count > 3 {
  var settings = RecordingSettings()
  settings.source = .output
  try await engine.record(to: arguments[3], settings)
}
let report = try await engine.run(seconds: arguments.count > 2 ? Double(arguments[2]) ?? 10 : 10)
print("\(report.frames) frames, \(report.captureXruns + report.playbackXruns) xruns")

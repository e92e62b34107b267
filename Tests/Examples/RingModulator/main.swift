import Duplex

struct RingModulator: AudioEffect {
  var phase: Float = 0
  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    for frame in 0..<frames.count {
      phase += 440 / Float(frames.sampleRate)
      if phase >= 1 { phase -= 1 }
      let carrier = RealtimeMath.sin(2 * .pi * phase)
      for channel in 0..<frames.channelCount { frames[frame, channel] *= carrier }
    }
  }
}
let engine = DuplexEngine(device: CommandLine.arguments[1])
engine.insert(RingModulator())
try await engine.run(seconds: 10)

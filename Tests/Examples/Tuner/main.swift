// Tuner DEVICE [SECONDS]: prints the pitch of the microphone's signal ten times a second.
import Duplex

/// Passes the microphone's samples to another thread, and silences them in the output.
struct Tap: AudioEffect, ~Copyable {
  var ring: SampleWriter
  var mono = SampleBuffer(frameCount: 0, channelCount: 1)

  init(_ ring: consuming SampleWriter) { self.ring = ring }

  mutating func prepare(_ format: EffectFormat) {
    mono = SampleBuffer(frameCount: format.maximumFrames, channelCount: 1)
  }

  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    for frame in 0..<frames.count { mono[frame] = frames[frame, 0] }
    _ = ring.write(mono, frames: frames.count)
    for sample in 0..<frames.sampleCount { frames[sample] = 0 }
  }
}

/// Returns the name of the nearest note and the deviation of `sound` from it, by the first high
/// peak of the autocorrelation; nil if there is none.
func note(of sound: borrowing SampleBuffer, at sampleRate: Int) -> String? {
  let count = sound.frameCount / 2
  func likeness(_ lag: Int) -> Float {
    var (product, power): (Float, Float) = (0, 1e-9)
    for frame in 0..<count {
      product += sound[frame] * sound[frame + lag]
      power += (sound[frame] * sound[frame] + sound[frame + lag] * sound[frame + lag]) / 2
    }
    return power > 1e-4 * Float(count) ? product / power : 0
  }
  let likenesses = (0...count).map(likeness)
  let lags = (sampleRate / 2000..<count)
  guard
    let lag = lags.first(where: {
      likenesses[$0] > 0.9 && likenesses[$0] >= likenesses[$0 - 1]
        && likenesses[$0] > likenesses[$0 + 1]
    })
  else { return nil }
  // The peak of the parabola through three neighbouring values.
  let (left, middle, right) = (likenesses[lag - 1], likenesses[lag], likenesses[lag + 1])
  let period = Float(lag) + (left - right) / (2 * (left - 2 * middle + right))
  let frequency = Float(sampleRate) / period
  let cents = 1200 * RealtimeMath.log(frequency / 440) / RealtimeMath.log(2)
  let nearest = (cents / 100).rounded()
  let names = ["A", "A#", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#"]
  let name = names[((Int(clamping: nearest) % 12) + 12) % 12]
  return "\(name) \((frequency * 10).rounded() / 10) Hz, \((cents - nearest * 100).rounded()) cents"
}

let arguments = CommandLine.arguments
let engine = DuplexEngine(device: arguments.count > 1 ? arguments[1] : "default")

func tap(_ engine: DuplexEngine) -> MutexBox<SampleReader> {
  let ring = SampleWriter(frameCount: 65536, channelCount: 1)
  let reader = MutexBox(ring.makeReader())
  engine.insert(Tap(ring), at: .input)
  return reader
}
let reader = tap(engine)
engine.addStatusHandler { status in
  guard let configuration = status.configuration else { return }
  var sound = SampleBuffer(frameCount: 2048, channelCount: 1)
  let isWhole = reader.withLock { reader in
    while reader.available >= 2 * 2048 { _ = reader.read(into: &sound, frames: 2048) }
    return reader.available >= 2048 && reader.read(into: &sound, frames: 2048) == 2048
  }
  if isWhole, let note = note(of: sound, at: configuration.sampleRate) { print(note) }
}
try await engine.run(seconds: arguments.count > 2 ? Double(arguments[2]) ?? 60 : 60)

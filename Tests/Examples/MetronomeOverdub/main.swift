// MetronomeOverdub DEVICE BACKING TAKE.wav [BPM] [SECONDS]: plays BACKING and a click, records the
// microphone, and removes the latency of input and output from the start of TAKE.
import Duplex

/// Plays a click on each beat instead of the microphone.
struct Metronome: AudioEffect {
  let beatsPerMinute: Double
  var frame = 0

  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    let beat = max(1, Int(clamping: Double(frames.sampleRate) * 60 / beatsPerMinute))
    for index in 0..<frames.count {
      let place = frame % beat
      let fade = RealtimeMath.exp(-Float(place) / 200)
      let click = fade * RealtimeMath.cos(Float(place % 24) / 24 * 2 * .pi) / 2
      for channel in 0..<frames.channelCount { frames[index, channel] = place < 2000 ? click : 0 }
      frame += 1
    }
  }
}

let arguments = CommandLine.arguments
guard arguments.count > 3 else {
  fatalError("usage: MetronomeOverdub DEVICE BACKING TAKE.wav [BPM] [SECONDS]")
}
let engine = DuplexEngine(device: arguments[1])
engine.insert(Metronome(beatsPerMinute: arguments.count > 4 ? Double(arguments[4]) ?? 120 : 120))
engine.player.enqueue(path: arguments[2])
engine.player.play()
let raw = arguments[3] + ".late.wav"
let recording = try await engine.record(to: raw)
let latency = MutexBox(0.0)
engine.addStatusHandler { status in
  if let frames = status.latencyFrames { latency.withLock { $0 = frames } }
}
try await engine.run(seconds: arguments.count > 5 ? Double(arguments[5]) ?? 60 : 60)

// The latency of the unit. Cables and converters add the latency that `LatencyMeter` measures.
let late = Int(clamping: latency.withLock { $0 })
try copy(raw, to: arguments[3], without: late)
print("\(arguments[3]): \(late) frames taken off")

/// Writes the file `path` without its first `count` frames to `take`.
func copy(_ path: String, to take: String, without count: Int) throws {
  var source = try SoundFileReader(path: path)
  var file = try SoundFileWriter(
    path: take, fileFormat: .wav, sampleFormat: .s24, sampleRate: source.sampleRate,
    channelCount: source.channelCount, overwrite: true)
  try source.seek(toFrame: min(count, source.frameCount ?? 0))
  var buffer = SampleBuffer(frameCount: 4096, channelCount: source.channelCount)
  while case let frames = try source.read(into: &buffer), frames > 0 {
    try file.write(buffer, frames: frames)
  }
  try file.finish()
}

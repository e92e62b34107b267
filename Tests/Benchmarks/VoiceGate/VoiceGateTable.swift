import AudioBasics
import AudioSessions
import Glibc
import TestSupport

/// Prints, as Markdown, the misses and cuts of the voice gate for 60 phrases by espeak-ng in
/// several noises, the share of time that it is open in noise without speech, and its processor
/// time.
func printVoiceGate(_ material: SpokenMaterial, seed: UInt64) throws {
  print("| 60 phrases in | missed | cut at the start, the end, between | open | at best |")
  print("| --- | ---: | ---: | ---: | ---: |")
  let rows: [(noise: GateNoise, isWhispered: Bool, decibels: Double)] = [
    (.white, false, 5), (.pink, false, 5), (.fan, false, 5), (.keyboard, false, 5),
    (.rain, false, 5), (.babble, false, 10), (.music, false, 10), (.white, true, 10),
    (.pink, true, 10),
  ]
  var missed: [String] = []
  for row in rows {
    let trial = try GateTrial(
      60, material, seed: seed, isWhispered: row.isWhispered, in: row.noise, decibels: row.decibels)
    let result = trial.run()
    let cuts = [result.startCut, result.endCut, result.hole].map {
      "\(1000 * $0 / GateTrial.sampleRate)"
    }
    var name = "\(row.noise), \(Int(clamping: row.decibels)) dB"
    if row.isWhispered { name += ", whispered" }
    missed += result.missed.map { "\(name): \(trial.texts[$0])" }
    let cells = [
      name, "\(result.missed.count)",
      cuts.joined(separator: ", ") + " ms", percent(result.openShare), percent(result.idealShare),
    ]
    print("| " + cells.joined(separator: " | ") + " |")
  }
  print()
  print("| five minutes without speech | open |")
  print("| --- | ---: |")
  for noise in GateNoise.allCases {
    let result = try GateTrial(seconds: 300, material, seed: seed, of: noise).run()
    print("| \(noise) | \(percent(result.openShare)) |")
  }
  print()
  for phrase in missed { print("missed in \(phrase)") }
  print("Stereo at 48 kHz: \(percent(try coreShare(), digits: 2)) of a core.")
}

private func percent(_ share: Double, digits: Int = 0) -> String {
  digits == 0 ? "\(Int(rounding: 100 * share)) %" : "\((100 * share).shown(digits)) %"
}

/// Returns the processor time of the gate divided by the duration of its input: two channels of
/// pink noise at 48 kHz, the minimum of three measurements of ten seconds.
private func coreShare() throws -> Double {
  var random = SplitMix64(seed: 1)
  let noise = try GateNoise.pink.samples(
    frames: 4096, sampleRate: 48000, material: .tuning, random: &random)
  var buffer = SampleBuffer(frameCount: 2048, channelCount: 2)
  for index in noise.indices { buffer[index] = 0.02 * noise[index] }
  var best = Double.infinity
  for _ in 0..<3 {
    var gate = VoiceGate(VoiceSettings(sampleRate: 48000, channelCount: 2))
    let began = clock()
    for _ in 0..<480_000 / 2048 { gate.process(buffer, from: 0, frames: 2048) }
    best = min(best, Double(clock() - began) / Double(CLOCKS_PER_SEC) / 10)
  }
  return best
}

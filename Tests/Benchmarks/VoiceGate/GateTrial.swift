import AudioBasics
import AudioSessions
import Glibc
import TestSupport

/// A trial of the voice gate: phrases in noise, separated by pauses of three to seven seconds.
struct GateTrial {
  /// 16 kHz, so that no noise has a frequency band without speech.
  static let sampleRate = 16000
  private static let speechLevel: Float = 0.05

  let samples: [Float]
  /// The range of each phrase: from the first sample above -60 dB of its peak to the end of the
  /// last sample above -50 dB.
  let phrases: [Range<Int>]
  /// The text and the voice of each phrase.
  let texts: [String]

  /// Creates a trial of `count` phrases whose active level is `decibels` above the noise's RMS.
  init(
    _ count: Int, _ material: SpokenMaterial, seed: UInt64, isWhispered: Bool = false,
    in noise: GateNoise, decibels: Double
  ) throws {
    var random = SplitMix64(seed: seed &* 0x9E37_79B9)
    let rate = Double(Self.sampleRate)
    var sound = [Float](repeating: 0, count: Int(clamping: 3 * rate))
    var places: [Range<Int>] = []
    var texts: [String] = []
    for index in 0..<count {
      let spoken = material.phrase(index, isWhispered: isWhispered, random: &random)
      let phrase = try spoken.samples(sampleRate: Self.sampleRate)
      let range = phrase.soundingRange
      places.append(sound.count + range.lowerBound..<sound.count + range.upperBound)
      texts.append("\(spoken.text) (\(spoken.voice), \(spoken.wordsPerMinute) words a minute)")
      let scale = Self.speechLevel / phrase.activeLevel(sampleRate: Self.sampleRate)
      sound += phrase.map { $0 * scale }
      let pause = Int(clamping: random.uniform(3...7) * rate)
      sound += [Float](repeating: 0, count: pause)
    }
    let around = try noise.samples(
      frames: sound.count, sampleRate: Self.sampleRate, material: material, random: &random)
    let gain = Self.speechLevel * Float(pow(10, -decibels / 20))
    samples = zip(sound, around).map { $0 + gain * $1 }
    phrases = places
    self.texts = texts
  }

  /// Creates a trial with `seconds` of noise only.
  init(
    seconds: Double, _ material: SpokenMaterial, seed: UInt64, of noise: GateNoise
  ) throws {
    var random = SplitMix64(seed: seed &* 0x9E37_79B9 &+ 1)
    let frames = Int(clamping: seconds * Double(Self.sampleRate))
    samples = try noise.samples(
      frames: frames, sampleRate: Self.sampleRate, material: material, random: &random
    ).map { $0 * Self.speechLevel }
    phrases = []
    texts = []
  }

  /// Runs the voice gate and returns the result.
  func run() -> GateResult {
    var gate = VoiceGate(VoiceSettings(sampleRate: Self.sampleRate, channelCount: 1))
    let piece = 4096
    var buffer = SampleBuffer(frameCount: piece, channelCount: 1)
    var edges: [GateEdge] = []
    for start in stride(from: 0, to: samples.count, by: piece) {
      let count = min(piece, samples.count - start)
      for frame in 0..<count { buffer[frame] = samples[start + frame] }
      gate.process(buffer, from: 0, frames: count)
      while let edge = gate.nextEdge() { edges.append(edge) }
    }
    gate.finish()
    while let edge = gate.nextEdge() { edges.append(edge) }
    return GateResult(edges: edges, phrases: phrases, frames: samples.count)
  }
}

/// The share of the phrases that the gate kept in a trial.
struct GateResult {
  /// The phrases of which less than half was kept.
  private(set) var missed: [Int] = []
  /// The maximum numbers of frames missing at the start, at the end and within a phrase that was
  /// not missed.
  private(set) var startCut = 0
  private(set) var endCut = 0
  private(set) var hole = 0
  private(set) var openShare = 0.0
  /// The share of time that the default settings would keep if each phrase were detected exactly.
  private(set) var idealShare = 0.0

  /// Evaluates a recording of `frames` frames of which the gate kept the segments between `edges`.
  init(edges: [GateEdge], phrases: [Range<Int>], frames: Int) {
    let places = edges.map(\.frame)
    let segments = stride(from: 0, to: places.count - 1, by: 2).map { places[$0]..<places[$0 + 1] }
    let around = GateTrial.sampleRate / 2
    openShare = Double(segments.reduce(0) { $0 + $1.count }) / Double(max(1, frames))
    idealShare =
      Double(phrases.reduce(0) { $0 + $1.count + 2 * around }) / Double(max(1, frames))
    for (index, phrase) in phrases.enumerated() {
      let parts = segments.map { $0.clamped(to: phrase) }.filter { !$0.isEmpty }
      let kept = parts.reduce(0) { $0 + $1.count }
      guard let first = parts.first, let last = parts.last, 2 * kept >= phrase.count else {
        missed.append(index)
        continue
      }
      startCut = max(startCut, first.lowerBound - phrase.lowerBound)
      endCut = max(endCut, phrase.upperBound - last.upperBound)
      hole = max(hole, last.upperBound - first.lowerBound - kept)
    }
  }
}

import AudioBasics
import AudioSessions
import Glibc
import TestSupport

/// A generator of noise without repetitions.
struct TestNoise {
  /// The colour of the noise. The noise of a fan falls by 6 dB per octave above 400 Hz.
  enum Colour: CaseIterable { case none, white, pink, fan, hum }

  private let colour: Colour
  private let step: Float
  private var seed: UInt32 = 1
  private var phase: Float = 0
  private var filter = PinkFilter()
  private let fanShare: Float
  private var fan: Float = 0

  init(_ colour: Colour, sampleRate: Int) {
    self.colour = colour
    fanShare = 1 - expf(-2 * .pi * 400 / Float(sampleRate))
    step = 2 * .pi * 50 / Float(sampleRate)
  }

  /// Returns the next sample; the RMS is about 1.
  mutating func next() -> Float {
    if colour == .none { return 0 }
    if colour == .hum {
      phase = phase > 2 * .pi ? phase + step - 2 * .pi : phase + step
      return sinf(phase) + 0.7 * sinf(2 * phase) + 0.5 * sinf(3 * phase)
    }
    seed = seed &* 1_664_525 &+ 1_013_904_223
    let white = (Float(seed >> 8) / 8_388_608 - 1) * 1.732
    if colour == .white { return white }
    if colour == .fan {
      fan += fanShare * (white - fan)
      return fan * (2 / fanShare - 1).squareRoot()
    }
    return 0.336 * Float(filter.next(Double(white)))
  }
}

/// A recording of phrases between pauses, and the ranges of the phrases.
struct SpokenRecording {
  let sampleRate: Int
  /// The range of each phrase: from the first sample above -60 dB of its peak to the end of the
  /// last one above -50 dB.
  private(set) var phrases: [Range<Int>] = []
  private(set) var samples: [Float] = []
  private let speechLevel: Float = 0.05

  /// Creates a recording of `texts` spoken by `voices` in turn, with noise `snr` decibels below the
  /// speech.
  init(
    _ texts: [String], voices: [String] = ["en"], sampleRate: Int,
    noise colour: TestNoise.Colour, snr: Double = 20
  ) throws {
    self.sampleRate = sampleRate
    let gain = Gain(decibels: -snr).factor * speechLevel
    var noise = TestNoise(colour, sampleRate: sampleRate)
    pause(seconds: 0.5, &noise, gain)
    for (index, text) in texts.enumerated() {
      let phrase = try SpokenPhrase(text: text, voice: voices[index % voices.count])
        .samples(sampleRate: sampleRate)
      let scale = speechLevel / phrase.activeLevel(sampleRate: sampleRate)
      let range = phrase.soundingRange
      phrases.append(samples.count + range.lowerBound..<samples.count + range.upperBound)
      for sample in phrase { samples.append(sample * scale + noise.next() * gain) }
      pause(seconds: 2 + 3 * Double(index * 7 % 10) / 9, &noise, gain)
    }
  }

  private mutating func pause(seconds: Double, _ noise: inout TestNoise, _ gain: Float) {
    for _ in 0..<Int(clamping: seconds * Double(sampleRate)) { samples.append(noise.next() * gain) }
  }
}

/// Returns the ranges of `samples` that `gate` keeps. The samples are on channel `channel` of
/// `channelCount`, the others are silent. Nil if the edges violate the gate's guarantees.
func kept(
  _ gate: inout some RecordingGate, of samples: [Float], channel: Int = 0, channelCount: Int = 1,
  piece: Int = 4096
) -> [Range<Int>]? {
  var buffer = SampleBuffer(frameCount: piece, channelCount: channelCount)
  var edges: [GateEdge] = []
  var settled = 0
  var position = 0
  while position < samples.count {
    let count = min(piece, samples.count - position)
    for frame in 0..<count { buffer[frame * channelCount + channel] = samples[position + frame] }
    gate.process(buffer, from: 0, frames: count)
    position += count
    while let edge = gate.nextEdge() {
      guard edge.frame >= settled else { return nil }
      edges.append(edge)
    }
    let now = gate.decidedFrame
    guard now >= settled, now <= position, position - now <= gate.lookaheadFrames else {
      return nil
    }
    settled = now
  }
  gate.finish()
  while let edge = gate.nextEdge() {
    guard edge.frame >= settled else { return nil }
    edges.append(edge)
  }
  return stretches(edges, within: samples.count)
}

private func stretches(_ edges: [GateEdge], within end: Int) -> [Range<Int>]? {
  var stretches: [Range<Int>] = []
  var first: Int?
  for edge in edges {
    switch edge {
    case .open(let frame):
      guard first == nil, frame >= stretches.last?.upperBound ?? 0 else { return nil }
      first = frame
    case .close(let frame):
      guard let begin = first, frame >= begin, frame <= end else { return nil }
      stretches.append(begin..<frame)
      first = nil
    }
  }
  return first == nil ? stretches : nil
}

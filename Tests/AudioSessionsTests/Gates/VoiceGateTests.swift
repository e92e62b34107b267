import AudioSessions
import Glibc
import Testing

private let canSpeak = access("/usr/bin/espeak-ng", X_OK) == 0

private let sentences = [
  "The quick brown fox jumps over the lazy dog", "Say it once more, please",
  "Fine weather for the time of year", "Shall we go", "She sells sea shells by the sea shore",
  "Seven of them were late", "Four score and seven years ago", "What did you say",
  "Fifty five fish swam past", "Zero point three",
]

extension [Range<Int>] {
  /// Returns whether one of the ranges contains all of `phrase`.
  fileprivate func hold(_ phrase: Range<Int>) -> Bool {
    contains { $0.contains(phrase.lowerBound) && $0.contains(phrase.upperBound - 1) }
  }
}

/// Tests of the detection of speech.
@Suite struct VoiceGateTests {
  /// Checks that each phrase is completely in a separate range, with little silence around it.
  private func check(_ recording: SpokenRecording, channel: Int = 0, channelCount: Int = 1) throws {
    var gate = VoiceGate(
      VoiceSettings(sampleRate: recording.sampleRate, channelCount: channelCount))
    let stretches = try #require(
      kept(&gate, of: recording.samples, channel: channel, channelCount: channelCount))
    try #require(stretches.count == recording.phrases.count)
    let maximum = recording.sampleRate * 6 / 10
    for (stretch, phrase) in zip(stretches, recording.phrases) {
      let before = phrase.lowerBound - stretch.lowerBound
      let after = stretch.upperBound - phrase.upperBound
      #expect(before >= 0 && before <= maximum, "phrase at \(phrase)")
      #expect(after >= 0 && after <= maximum, "phrase at \(phrase)")
    }
  }

  @Test(.enabled(if: canSpeak)) func `all of a hundred phrases are found and complete`() throws {
    let texts = (0..<100).map { sentences[$0 % 10] }
    try check(
      SpokenRecording(texts, voices: ["en", "en+f3", "en+m3"], sampleRate: 16000, noise: .pink))
  }

  @Test(
    .enabled(if: canSpeak), arguments: [TestNoise.Colour.none, .white, .pink], [20.0, 10])
  func `phrases are found in noise`(colour: TestNoise.Colour, snr: Double) throws {
    try check(
      SpokenRecording(
        Array(sentences.prefix(5)), voices: ["en", "en+f3"], sampleRate: 16000, noise: colour,
        snr: snr))
  }

  @Test(.enabled(if: canSpeak)) func `words of one syllable are found in a fan's noise`() throws {
    let words = try SpokenRecording(
      ["Shall we go", "Halt", "Tak", "No", "Gut", "Help"],
      voices: ["en", "de+m4", "pl+m6", "en-us+m7", "de+m4", "en+f3"],
      sampleRate: 16000, noise: .fan, snr: 5)
    var gate = VoiceGate(VoiceSettings(sampleRate: 16000, channelCount: 1))
    let stretches = try #require(kept(&gate, of: words.samples))
    // The first phrase is half a second after the start, when the noise level is not known yet.
    for word in words.phrases.dropFirst() {
      #expect(
        stretches.hold(word),
        "word at \(word)")
    }
  }

  @Test(arguments: [TestNoise.Colour.white, .pink])
  func `vowels are found in noise as loud as they are`(colour: TestNoise.Colour) throws {
    let speech = SyntheticSpeech(5, noise: colour, snr: 0)
    var gate = VoiceGate(VoiceSettings(sampleRate: SyntheticSpeech.sampleRate, channelCount: 1))
    let stretches = try #require(kept(&gate, of: speech.samples))
    #expect(stretches.count == speech.phrases.count)
    for phrase in speech.phrases {
      #expect(
        stretches.hold(phrase),
        "phrase at \(phrase)")
    }
  }

  /// Returns how many words of 0.34 s, 10 dB above `background`, are kept completely.
  private func wordsFound(of count: Int, over background: [Float]) throws -> Int {
    let speech = SyntheticSpeech(words: count, over: background)
    var gate = VoiceGate(VoiceSettings(sampleRate: SyntheticSpeech.sampleRate, channelCount: 1))
    let stretches = try #require(kept(&gate, of: speech.samples))
    return speech.phrases.count { word in
      stretches.hold(word)
    }
  }

  @Test func `words of a third of a second are found over ten other voices`() throws {
    #expect(try wordsFound(of: 8, over: SyntheticSpeech.babble(seconds: 12)) == 8)
  }

  @Test func `most words of a third of a second are found over music`() throws {
    #expect(try wordsFound(of: 8, over: SyntheticSpeech.music(seconds: 12)) >= 6)
  }

  @Test func `keystrokes between phrases do not keep the gate open`() throws {
    var speech = SyntheticSpeech(3, noise: .white, snr: 30)
    speech.add(SyntheticSpeech.keys(seconds: 16))
    var gate = VoiceGate(VoiceSettings(sampleRate: SyntheticSpeech.sampleRate, channelCount: 1))
    let stretches = try #require(kept(&gate, of: speech.samples))
    #expect(stretches.count == speech.phrases.count)
    for (stretch, phrase) in zip(stretches, speech.phrases) {
      #expect(stretch.contains(phrase.lowerBound) && stretch.contains(phrase.upperBound - 1))
    }
  }

  @Test func `music is excluded most of the time`() throws {
    let music = SyntheticSpeech.music(seconds: 15)
    var gate = VoiceGate(VoiceSettings(sampleRate: SyntheticSpeech.sampleRate, channelCount: 1))
    let stretches = try #require(kept(&gate, of: music))
    #expect(stretches.reduce(0) { $0 + $1.count } < music.count / 10)
  }

  @Test(.enabled(if: canSpeak), arguments: [8000, 44100, 48000, 96000])
  func `phrases are found at every rate, on one side of stereo`(sampleRate: Int) throws {
    try check(
      SpokenRecording(Array(sentences.suffix(2)), sampleRate: sampleRate, noise: .white),
      channel: 1, channelCount: 2)
  }

  @Test(.enabled(if: canSpeak)) func `speech without pauses is not mistaken for noise`() throws {
    let text = Array(repeating: sentences, count: 4).joined().joined(separator: " and ")
    let recording = try SpokenRecording([text], sampleRate: 16000, noise: .white)
    try check(recording)
  }

  @Test(arguments: [TestNoise.Colour.white, .pink, .hum])
  func `noise of slowly changing level does not open the gate`(colour: TestNoise.Colour) throws {
    let rate = 8000
    var noise = TestNoise(colour, sampleRate: rate)
    let samples = (0..<120 * rate).map { frame in
      0.01 * noise.next() * powf(2, sinf(Float(frame) / Float(rate) / 20))
    }
    var gate = VoiceGate(VoiceSettings(sampleRate: rate, channelCount: 1))
    let stretches = try #require(kept(&gate, of: samples))
    #expect(stretches.isEmpty)
  }

  @Test func `noise after initial zeros does not open the gate`() throws {
    var noise = TestNoise(.pink, sampleRate: 8000)
    let samples = (0..<80000).map { $0 < 12345 ? 0 : 0.01 * noise.next() }
    var gate = VoiceGate(VoiceSettings(sampleRate: 8000, channelCount: 1))
    let stretches = try #require(kept(&gate, of: samples))
    #expect(stretches.isEmpty)
  }

  @Test func `noise that becomes 20 dB louder is kept for a few seconds only`() throws {
    var noise = TestNoise(.white, sampleRate: 8000)
    let samples = (0..<240_000).map { ($0 < 80000 ? 0.001 : 0.01) * noise.next() }
    var gate = VoiceGate(VoiceSettings(sampleRate: 8000, channelCount: 1))
    let stretches = try #require(kept(&gate, of: samples))
    #expect(stretches.count == 1)
    #expect(stretches.allSatisfy { $0.count < 10 * 8000 })
  }

  @Test(arguments: [-50.0, nil])
  func `taps and rumble do not open the gate`(threshold: Double?) throws {
    var noise = TestNoise(.white, sampleRate: 16000)
    let samples: [Float] = (0..<320_000).map { frame in
      // A tap of 30 ms every 700 ms, with rumble at 20 Hz and a DC offset.
      let isTap = frame % 11200 < 480 && frame > 16000
      return 0.1 + 0.2 * sinf(Float(frame % 800) / 800 * 2 * .pi)
        + noise.next() * (isTap ? 0.2 : 0.0005)
    }
    var gate = VoiceGate(
      VoiceSettings(sampleRate: 16000, channelCount: 1, thresholdDBFS: threshold))
    let stretches = try #require(kept(&gate, of: samples))
    #expect(stretches.isEmpty)
  }

  @Test(arguments: [1, 100, 4096])
  func `a fixed threshold keeps the sound above it, with pre-roll and tail`(piece: Int) throws {
    let rate = 8000
    let samples: [Float] = (0..<10 * rate).map { frame in
      let gain: Float = (3 * rate..<4 * rate).contains(frame) ? 0.1 : 0.001
      return gain * sinf(Float(frame) * 0.8)
    }
    var settings = VoiceSettings(sampleRate: rate, channelCount: 1, thresholdDBFS: -40)
    settings.preRollSeconds = 1
    settings.tailSeconds = 2
    var gate = VoiceGate(settings)
    let stretches = try #require(kept(&gate, of: samples, piece: piece))
    let stretch = try #require(stretches.first)
    #expect(stretches.count == 1)
    #expect(abs(stretch.lowerBound - 2 * rate) <= rate / 50)
    #expect(abs(stretch.upperBound - 6 * rate) <= rate / 50)
  }

  @Test func `a NaN sample does not disable the gate`() throws {
    let rate = 8000
    let samples: [Float] = (0..<6 * rate).map { frame in
      if frame == rate { return .nan }
      return (3 * rate..<4 * rate).contains(frame) ? 0.1 * sinf(Float(frame) * 0.8) : 0
    }
    var gate = VoiceGate(VoiceSettings(sampleRate: rate, channelCount: 1, thresholdDBFS: -40))
    let stretches = try #require(kept(&gate, of: samples))
    #expect(stretches.count == 1)
  }
}

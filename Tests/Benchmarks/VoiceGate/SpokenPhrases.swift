import AudioBasics
import AudioClocks
import AudioFiles
import Glibc

/// The voices and texts of a trial of the voice gate: the material used for tuning, or material not
/// used for tuning.
enum SpokenMaterial: String, CaseIterable {
  case tuning
  case heldOut = "held-out"

  /// Languages and variants of espeak-ng, of both sexes.
  var voices: [String] {
    switch self {
    case .tuning: ["en+m3", "en+f2", "en-us+m1", "en-us+f4", "en-gb-scotland+m5", "en-us+f1"]
    case .heldOut: ["en+f3", "en-us+m7", "de+m4", "fr+f5", "es+m2", "it+f2", "pl+m6", "en-us+f5"]
    }
  }

  /// Phrases of one second or more.
  var sentences: [String: [String]] {
    switch self {
    case .tuning:
      [
        "en": [
          "The birch canoe slid on the smooth planks", "Glue the sheet to the dark blue background",
          "It is easy to tell the depth of a well", "Rice is often served in round bowls",
          "The juice of lemons makes fine punch", "Shall we go home", "What did you say",
          "Four hours of steady work faced us", "Fifty five fish swam past", "Say it once more",
          "Hoist the load to your left shoulder", "She sells sea shells by the sea shore",
        ]
      ]
    case .heldOut:
      [
        "en": [
          "A saw is a tool used for making boards", "The wagon moved on well oiled wheels",
          "March the soldiers past the next hill", "Where have you been", "Seven o'clock tomorrow",
          "A cup of sugar makes sweet fudge", "Place a rosebush near the porch steps",
        ],
        "de": [
          "Guten Morgen zusammen", "Das Fenster steht noch offen", "Wir fahren morgen nach Hamburg",
          "Zwei Tassen Kaffee bitte",
        ],
        "fr": [
          "Il fait beau ce matin", "Le train part dans dix minutes", "Passez moi le sel",
        ],
        "es": ["El perro corre por el parque", "Nos vemos el jueves", "Abre la ventana por favor"],
        "it": ["Il gatto dorme sul divano", "Domani andiamo al mare", "Quanto costa questo libro"],
        "pl": ["Dzisiaj jest ładna pogoda", "Gdzie jest dworzec", "Poproszę szklankę wody"],
      ]
    }
  }

  /// Phrases of 200 to 750 ms.
  var shortPhrases: [String: [String]] {
    switch self {
    case .tuning: ["en": ["Yes", "Go on", "Two", "Okay", "Wait", "Not yet", "Look", "Stop it"]]
    case .heldOut:
      [
        "en": ["No", "Right", "Come in", "Three", "Help", "Sit down"], "de": ["Ja", "Halt", "Gut"],
        "fr": ["Oui", "Merci"], "es": ["Vale", "Aquí"], "it": ["Dai", "Sette"],
        "pl": ["Tak", "Osiem"],
      ]
    }
  }

  /// The voices and texts of the babble noise, which contains none of the phrases.
  var babble: [(voice: String, text: String)] {
    let variants =
      self == .tuning
      ? ["m1", "f1", "m2", "f2", "m4", "f4", "m6", "f5", "m8", "f3", "klatt", "m7"]
      : ["f1", "m3", "f4", "m1", "f3", "m5", "klatt2", "m8", "f5", "m2", "f2", "m4"]
    return variants.enumerated().map { index, variant in
      let language = (self == .tuning ? ["en-029", "en"] : ["en-us", "nl", "sv"])
      let texts = Self.stories
      let first = self == .tuning ? index : index + 5
      let text = (0..<texts.count).map { texts[(first + $0 * 5) % texts.count] }
      return (language[index % language.count] + "+" + variant, text.joined(separator: ". "))
    }
  }

  private static let stories = [
    "We walked down to the harbour and counted the boats until it grew dark",
    "My sister has bought another old piano which nobody in the house can play",
    "They told us that the bridge would be closed for the rest of the summer",
    "If you add the flour too early the whole dough turns into a lump",
    "The committee has decided to meet again before the end of the month",
    "Nobody remembers who painted the picture above the stairs",
    "In the evening the wind turned and the smoke came in through the window",
    "He bought three kilograms of apples and forgot them on the bus",
    "The second chapter is shorter but a good deal harder to understand",
    "You could hear the children laughing all the way from the other side of the lake",
    "After the concert we waited an hour for a taxi and then went on foot",
  ]

  /// Returns phrase number `index` of a trial; every fourth one is short.
  func phrase(_ index: Int, isWhispered: Bool, random: inout SplitMix64) -> SpokenPhrase {
    // The offset ensures that each voice also speaks short phrases.
    let voice = voices[(index + index / 4) % voices.count]
    let language = String(voice.prefix(2))
    let texts = (index % 4 == 3 ? shortPhrases : sentences)[language] ?? [""]
    let choice = Int(clamping: random.uniform(0...Double(texts.count) - 0.001))
    let name = voice.split(separator: "+")[0]
    let whisper = voice.contains("+f") ? "\(name)+whisperf" : "\(name)+whisper"
    return SpokenPhrase(
      text: texts[choice], voice: isWhispered ? whisper : voice,
      wordsPerMinute: Int(clamping: random.uniform(135...215)),
      pitch: Int(clamping: random.uniform(30...65)))
  }
}

/// A text for espeak-ng, with the voice and its settings.
struct SpokenPhrase {
  var text: String
  var voice: String
  var wordsPerMinute = 175
  var pitch = 50

  /// Returns the samples at `sampleRate`; empty if espeak-ng is not installed.
  func samples(sampleRate: Int) throws -> [Float] {
    let path = "/tmp/duplex-voice-gate-\(UInt64.random(in: 0..<UInt64.max)).wav"
    defer { try? FileRemoval.remove(path) }
    let words = [
      "espeak-ng", "-v", voice, "-s", "\(wordsPerMinute)", "-p", "\(pitch)", "-w", path, text,
    ]
    guard case .text = ProgramAnswer.asking(words, milliseconds: 20000) else { return [] }
    var reader = try SoundFileReader(path: path)
    var speech = SampleBuffer(frameCount: 180 * reader.sampleRate, channelCount: 1)
    let count = try reader.read(into: &speech)
    guard sampleRate != reader.sampleRate else { return (0..<count).map { speech[$0] } }
    var converter = try RateConverter(
      channelCount: 1, inputRate: reader.sampleRate, outputRate: sampleRate, quality: 3)
    converter.skipLeadingSilence()
    var converted = SampleBuffer(
      frameCount: count * sampleRate / reader.sampleRate, channelCount: 1)
    let done = converter.convert(
      speech, frames: count, into: &converted, room: converted.frameCount)
    return (0..<done.produced).map { converted[$0] }
  }
}

/// A filter that turns white noise into pink noise: P. Kellet's economical filter.
struct PinkFilter {
  private var states = (0.0, 0.0, 0.0)

  /// Returns the next sample of pink noise for the next sample of white noise.
  mutating func next(_ white: Double) -> Double {
    states.0 = 0.99765 * states.0 + white * 0.0990460
    states.1 = 0.96300 * states.1 + white * 0.2965164
    states.2 = 0.57000 * states.2 + white * 1.0526913
    return states.0 + states.1 + states.2 + white * 0.1848
  }
}

extension [Float] {
  /// The range from the first sample above -60 dB of the peak to the end of the last one above -50
  /// dB.
  var soundingRange: Range<Int> {
    let peak = reduce(0) { Swift.max($0, abs($1)) }
    let first = firstIndex { abs($0) > peak * 0.001 } ?? 0
    let last = lastIndex { abs($0) > peak * 0.003162 } ?? 0
    return first..<last + 1
  }

  /// Returns the RMS of all parts that are less than 35 dB below the loudest 10 ms.
  func activeLevel(sampleRate: Int) -> Float {
    let length = sampleRate / 100
    let powers = stride(from: 0, to: count - length, by: length).map { start in
      self[start..<start + length].reduce(0) { $0 + $1 * $1 } / Float(length)
    }
    let loudest = powers.max() ?? 0
    let active = powers.filter { $0 > loudest * 0.000316 }
    return (active.reduce(0, +) / Float(Swift.max(1, active.count))).squareRoot()
  }

  /// Returns the samples scaled to an RMS of 1.
  func normalised() -> [Float] {
    let power = reduce(0.0) { $0 + Double($1) * Double($1) } / Double(Swift.max(1, count))
    let scale = power > 0 ? Float(1 / power.squareRoot()) : 0
    return map { $0 * scale }
  }
}

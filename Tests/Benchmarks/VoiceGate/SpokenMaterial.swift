import AudioBasics
import TestSupport

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

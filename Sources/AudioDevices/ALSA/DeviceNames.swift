import CALSA

/// A PCM that a part of its name, or of its card's, may stand for.
public struct DeviceCandidate: Sendable, Equatable {
  /// The ALSA name that opens it.
  public var name: String
  /// What it is, for people.
  public var title: String
  /// The card it is on, as ALSA calls it; nil for a PCM of ALSA's configuration.
  public var card: String?
  /// The card's name for people.
  public var cardTitle = ""
  /// Whether it can be an input.
  public var canCapture: Bool
  /// Whether it can be an output.
  public var canPlay: Bool

  /// A PCM with these names.
  public init(
    name: String, title: String, card: String? = nil, cardTitle: String = "",
    canCapture: Bool = true, canPlay: Bool = true
  ) {
    self.name = name
    self.title = title
    self.card = card
    self.cardTitle = cardTitle
    self.canCapture = canCapture
    self.canPlay = canPlay
  }
}

/// Finds the device that a part of its name stands for. Any thread but the audio thread.
public enum DeviceNames {
  /// The ALSA name of the input, or of the output, that `name` is, or is a part of in either case.
  /// `name` itself where nothing fits: opening it tells what is wrong. Throws where several fit.
  public static func resolve(_ name: String, isCapture: Bool) throws(DeviceFailure) -> String {
    guard !isExact(name) else { return name }
    return try resolve(name, isCapture: isCapture, among: candidates())
  }

  /// The same among `candidates`, for a name that ALSA itself does not know. Throws as that does.
  public static func resolve(
    _ part: String, isCapture: Bool, among candidates: [DeviceCandidate]
  ) throws(DeviceFailure) -> String {
    let lowercase = part.lowercased()
    func fits(_ text: String?) -> Bool { text?.lowercased().contains(lowercase) ?? false }
    func fitsCard(_ candidate: DeviceCandidate) -> Bool {
      fits(candidate.card) || fits(candidate.cardTitle)
    }
    let fitting = candidates.filter {
      (isCapture ? $0.canCapture : $0.canPlay)
        && (fitsCard($0) || fits($0.title) || $0.card == nil && fits($0.name))
    }
    guard let first = fitting.first else { return part }
    // A card's first device is the one that people mean by the card.
    let isOneCard = first.card != nil && fitting.allSatisfy { $0.card == first.card }
    if fitting.count == 1 || isOneCard && fitsCard(first) { return first.name }
    let noun = isCapture ? "inputs" : "outputs"
    throw DeviceFailure(
      .invalidRequest,
      "\(part) could be several \(noun): \(fitting.map(\.listed).joined(separator: ", ")).",
      hint: "Write more of the name, or the whole of it.")
  }

  /// Whether ALSA knows a PCM of this name, or it is written as only ALSA writes names.
  static func isExact(_ name: String) -> Bool {
    guard !name.isEmpty, !name.contains(where: { ":{".contains($0) }) else { return true }
    return withConfiguration { node("pcm", in: $0).flatMap { node(name, in: $0) } != nil } ?? false
  }

  /// All that a part of a name may stand for: the devices of the cards, then the PCMs that ALSA's
  /// configuration defines whole. No device is opened.
  public static func candidates() -> [DeviceCandidate] {
    ALSALibrary.prepare()
    return CardControl.candidates() + defined()
  }

  /// The PCMs of ALSA's configuration that take no arguments, without what stands
  /// for nothing else.
  static func defined() -> [DeviceCandidate] {
    withConfiguration { top in
      guard let group = node("pcm", in: top) else { return [] }
      var candidates: [DeviceCandidate] = []
      var entry = snd_config_iterator_first(group)
      while let place = entry, place != snd_config_iterator_end(group) {
        if let node = snd_config_iterator_entry(place) { candidates += candidate(node) }
        entry = snd_config_iterator_next(place)
      }
      return candidates
    } ?? []
  }

  /// The plugins that the PCM `name` of ALSA's configuration is made of, from the first to where a
  /// PCM is named with arguments, or to the last.
  static func types(of name: String) -> [String] {
    withConfiguration { top in
      var types: [String] = []
      var name = name
      while types.count < 8, isName(name), let type = text("pcm.\(name).type", in: top) {
        types.append(type)
        guard let next = text("pcm.\(name).slave.pcm", in: top) else { break }
        name = next
      }
      return types
    } ?? []
  }

  /// Whether `name` is a PCM's as it stands, not a path into its settings.
  private static func isName(_ name: String) -> Bool { !name.contains { ":{.".contains($0) } }

  /// What stands in the configuration at `path`; nil where nothing does.
  private static func node(_ path: String, in top: OpaquePointer) -> OpaquePointer? {
    var node: OpaquePointer?
    return snd_config_search(top, path, &node) == 0 ? node : nil
  }

  private static func text(_ path: String, in top: OpaquePointer) -> String? {
    node(path, in: top).flatMap(text)
  }

  /// The number of the card that ALSA takes where none is named; nil where that is not known.
  static func defaultCard() -> Int? {
    withConfiguration { top in
      var number = 0
      guard let node = node("defaults.pcm.card", in: top),
        snd_config_get_integer(node, &number) == 0
      else { return nil }
      return number
    } ?? nil
  }

  private static func candidate(_ node: OpaquePointer) -> [DeviceCandidate] {
    var id: UnsafePointer<CChar>?
    guard snd_config_get_id(node, &id) == 0, let id else { return [] }
    let name = String(cString: id)
    guard name != "null", Self.node("@args", in: node) == nil else { return [] }
    // ALSA's own names for the PCMs of cards: no configuration file defines them.
    guard text(node).map({ $0 != "iec958" && !$0.hasPrefix("cards.pcm") }) ?? true else {
      return []
    }
    let title =
      text("hint.description", in: node) ?? text("type", in: node).map { "ALSA plugin \($0)" }
      ?? text(node).map { "stands for \($0)" } ?? ""
    return [DeviceCandidate(name: name, title: title)]
  }

  private static func text(_ node: OpaquePointer) -> String? {
    var text: UnsafePointer<CChar>?
    guard snd_config_get_string(node, &text) == 0, let text else { return nil }
    return String(cString: text)
  }

  /// ALSA's configuration as it is now; nil where it cannot be read.
  private static func withConfiguration<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
    ALSALibrary.prepare()
    var top: OpaquePointer?
    guard snd_config_update_ref(&top) >= 0, let top else { return nil }
    defer { snd_config_unref(top) }
    return body(top)
  }
}

extension DeviceCandidate {
  /// Its card's title and its own.
  public var fullTitle: String {
    [cardTitle, title].filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// For sentences.
  fileprivate var listed: String { fullTitle.isEmpty ? name : "\(name) (\(fullTitle))" }
}

extension CardControl {
  /// The devices of all cards; no device is opened.
  fileprivate static func candidates() -> [DeviceCandidate] {
    DeviceIdentity.cards.sorted().flatMap { number -> [DeviceCandidate] in
      do throws(DeviceFailure) {
        return try CardControl(card: Int32(number)).candidates
      } catch {
        return []
      }
    }
  }
}

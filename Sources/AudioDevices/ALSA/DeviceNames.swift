import CALSA

/// A PCM that can be selected by a part of its name or of its card's name.
public struct DeviceCandidate: Sendable, Equatable {
  /// The ALSA name that opens it.
  public var name: String
  /// The display name of the PCM.
  public var title: String
  /// The ALSA name of the card; nil for a PCM of ALSA's configuration.
  public var card: String?
  /// The display name of the card.
  public var cardTitle = ""
  /// Whether the PCM can be used as an input.
  public var canCapture: Bool
  /// Whether the PCM can be used as an output.
  public var canPlay: Bool

  /// Creates a PCM with these names.
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

/// The search for the device that a part of a name selects. Any thread but the audio thread.
public enum DeviceNames {
  /// Returns the ALSA name of the input or output that `name` names in full or in part, ignoring
  /// case. Returns `name` itself if no device matches: opening it then reports the error. Throws if
  /// several devices match.
  public static func resolve(_ name: String, isCapture: Bool) throws(DeviceFailure) -> String {
    guard !isExact(name) else { return name }
    return try resolve(name, isCapture: isCapture, among: candidates())
  }

  /// Does the same among `candidates`, for a name that ALSA does not define. Throws if several
  /// match.
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
    // A card's name selects the first device of the card.
    let isOneCard = first.card != nil && fitting.allSatisfy { $0.card == first.card }
    if fitting.count == 1 || isOneCard && fitsCard(first) { return first.name }
    let noun = isCapture ? "inputs" : "outputs"
    throw DeviceFailure(
      .invalidRequest,
      "\(part) could be several \(noun): \(fitting.map(\.listed).joined(separator: ", ")).",
      hint: "Write more of the name, or the whole of it.")
  }

  /// Returns whether ALSA defines a PCM of this name, or the name has the syntax of ALSA's own
  /// names.
  static func isExact(_ name: String) -> Bool {
    guard !name.isEmpty, !name.contains(where: { ":{".contains($0) }) else { return true }
    return withConfiguration { node("pcm", in: $0).flatMap { node(name, in: $0) } != nil } ?? false
  }

  /// Returns all PCMs that a part of a name can select: the devices of the cards, then the PCMs
  /// that ALSA's configuration defines without arguments. Opens no device.
  public static func candidates() -> [DeviceCandidate] {
    ALSALibrary.prepare()
    return CardControl.candidates() + defined()
  }

  /// Returns the PCMs of ALSA's configuration that take no arguments, except `null` and ALSA's own
  /// names for the PCMs of cards.
  static func defined() -> [DeviceCandidate] {
    withConfiguration { top in
      node("pcm", in: top).map { entries(of: $0).flatMap(candidate) } ?? []
    } ?? []
  }

  /// Returns the types of the plugins that make up the PCM `name` of ALSA's configuration, from the
  /// first one to the one whose slave is named with arguments, or to the last.
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

  /// Returns whether `name` is the plain name of a PCM, not a path into its settings.
  private static func isName(_ name: String) -> Bool { !name.contains { ":{.".contains($0) } }

  /// The number of definitions that are followed at most: a definition may refer to itself, and
  /// more than once.
  private static let maximumDefinitions = 64

  /// Returns whether the PCM `name`, which may have arguments, is a client of JACK or passes frames
  /// to one, in either direction. ALSA itself expands its definition, as it does to open it.
  static func leadsToJACK(_ name: String) -> Bool {
    var left = maximumDefinitions
    return withConfiguration { leadsToJACK("pcm", name, in: $0, &left) } ?? false
  }

  private static func leadsToJACK(
    _ group: String, _ name: String, in top: OpaquePointer, _ left: inout Int
  ) -> Bool {
    var found: OpaquePointer?
    left -= 1
    guard left >= 0, snd_config_search_definition(top, group, name, &found) >= 0, let found else {
      return false
    }
    defer { snd_config_delete(found) }
    // A definition that is a text is the name of another one.
    if let name = text(found) { return leadsToJACK(group, name, in: top, &left) }
    return leadsToJACK(found, in: top, &left)
  }

  private static func leadsToJACK(
    _ group: OpaquePointer, in top: OpaquePointer, _ left: inout Int
  ) -> Bool {
    guard snd_config_get_type(group) == SND_CONFIG_TYPE_COMPOUND else { return false }
    return entries(of: group).contains { node in
      var id: UnsafePointer<CChar>?
      guard snd_config_get_id(node, &id) == 0, let id else { return false }
      return switch (String(cString: id), text(node)) {
      case ("type", let type?): type == "jack"
      case ("pcm", let name?): leadsToJACK("pcm", name, in: top, &left)
      case ("slave", let name?): leadsToJACK("pcm_slave", name, in: top, &left)
      default: leadsToJACK(node, in: top, &left)
      }
    }
  }

  /// Returns the nodes of a compound of the configuration.
  private static func entries(of group: OpaquePointer) -> [OpaquePointer] {
    var nodes: [OpaquePointer] = []
    var entry = snd_config_iterator_first(group)
    while let place = entry, place != snd_config_iterator_end(group) {
      if let node = snd_config_iterator_entry(place) { nodes.append(node) }
      entry = snd_config_iterator_next(place)
    }
    return nodes
  }

  /// Returns the configuration's node at `path`; nil if there is none.
  private static func node(_ path: String, in top: OpaquePointer) -> OpaquePointer? {
    var node: OpaquePointer?
    return snd_config_search(top, path, &node) == 0 ? node : nil
  }

  private static func text(_ path: String, in top: OpaquePointer) -> String? {
    node(path, in: top).flatMap(text)
  }

  /// Returns the number of the card that ALSA uses if none is named; nil if it is not known.
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
    // ALSA's own names for the PCMs of cards: no configuration file of a user defines them.
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

  /// Calls `body` with ALSA's current configuration. Returns nil if it cannot be read.
  private static func withConfiguration<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
    ALSALibrary.prepare()
    var top: OpaquePointer?
    guard snd_config_update_ref(&top) >= 0, let top else { return nil }
    defer { snd_config_unref(top) }
    return body(top)
  }
}

extension DeviceCandidate {
  /// The title of the card and the title of the device.
  public var fullTitle: String {
    [cardTitle, title].filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// The text for messages.
  fileprivate var listed: String { fullTitle.isEmpty ? name : "\(name) (\(fullTitle))" }
}

extension CardControl {
  /// Returns the devices of all cards. Opens no device.
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

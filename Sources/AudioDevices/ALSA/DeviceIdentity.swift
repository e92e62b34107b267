import LinuxSystem

/// The identities of devices, which do not depend on a card's number. Data about devices is stored
/// by these identities. Any thread but the audio thread.
package enum DeviceIdentity {
  /// Returns the identity for an ALSA name: the card's name within ALSA, for USB also the numbers
  /// of vendor and product and the serial number, and the device on the card. A name that refers to
  /// no card is its own identity.
  package static func of(_ name: String) -> String { of(name, among: .ofThisMachine) }

  static func of(_ name: String, among cards: CardFiles) -> String {
    let address = HardwareAddress(name)
    guard let card = address.card, let number = cards.number(of: card) else { return name }
    var parts = ["CARD=" + (cards.id(of: number) ?? card)]
    if let product = cards.usbProduct(of: number) { parts.append("USB=" + product) }
    if let serial = cards.serial(of: number) { parts.append("SERIAL=" + serial) }
    parts.append("DEV=" + (address.device ?? "0"))
    // A plugin before the card may have a separate buffer.
    return String(name.prefix { $0 != ":" }) + ":" + parts.joined(separator: ",")
  }

  /// Returns whether an ALSA name refers to a card that is present: such a device can be
  /// distinguished from all others when it comes back.
  package static func isKnown(_ name: String) -> Bool {
    HardwareAddress(name).card.flatMap(CardFiles.ofThisMachine.number) != nil
  }

  /// Returns the name within ALSA of the card that `name` refers to; nil if it refers to no card
  /// that is present.
  private static func card(behind name: String, among cards: CardFiles) -> String? {
    HardwareAddress(name).card.flatMap(cards.number).flatMap(cards.id)
  }

  /// Returns the card that `name` refers to: its name within ALSA, or the number or the name with
  /// which `name` refers to it, if it is not listed; nil if `name` refers to no card.
  static func namedCard(of name: String, among cards: CardFiles = .ofThisMachine) -> String? {
    if let listed = card(behind: name, among: cards) { return listed }
    let address = HardwareAddress(name)
    return address.isCardCertain ? address.card : nil
  }

  /// Returns the number of the card that `name` refers to; nil if it refers to no card, or refers
  /// by name to a card that is not present.
  static func cardNumber(behind name: String) -> Int? {
    guard let card = HardwareAddress(name).card else { return nil }
    return Int(card) ?? CardFiles.ofThisMachine.number(of: card)
  }

  /// The numbers of the cards that are present.
  static var cards: [Int] { CardFiles.ofThisMachine.numbers }
}

/// A request and the identities of its devices, by which they are found again if they come back
/// under another card number.
struct DeviceLocations {
  /// One PCM by its name, and the identity of that name.
  private struct Place {
    let name: String
    let identity: String
    /// The card to which the name refers, by number or by name; nil if it refers to none.
    let card: String?

    init(_ name: String) {
      self.name = name
      identity = DeviceIdentity.of(name)
      card = DeviceIdentity.isKnown(name) ? HardwareAddress(name).card : nil
    }

    /// Returns the name that opens the PCM now and its card; nil if the PCM is not present.
    func current() -> (name: String, card: Int?)? {
      // A PCM without a card can only be found by its name.
      guard let card else { return (name, nil) }
      for number in DeviceIdentity.cards {
        let numbered = HardwareAddress.name(name, onCard: number)
        guard DeviceIdentity.of(numbered) == identity else { continue }
        return (Int(card) == nil ? name : numbered, number)
      }
      return nil
    }
  }

  private let request: DuplexRequest
  private let capture: Place?
  private let playback: Place?

  /// Stores the identities of the devices that `request` names, while they are present.
  init(_ request: DuplexRequest) {
    self.request = request
    capture = request.captureDevice.map(Place.init)
    playback = request.playbackDevice.map(Place.init)
  }

  /// Returns the request with the names that open the same devices now, and their cards; nil while
  /// one of them is not present.
  func locate() -> (request: DuplexRequest, cards: [Int])? {
    var request = request
    var cards: [Int] = []
    for case (let place?, let name) in [
      (capture, \DuplexRequest.captureDevice), (playback, \.playbackDevice),
    ] {
      guard let found = place.current() else { return nil }
      request[keyPath: name] = found.name
      if let card = found.card, !cards.contains(card) { cards.append(card) }
    }
    return (request, cards)
  }
}

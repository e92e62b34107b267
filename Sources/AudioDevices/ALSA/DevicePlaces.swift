/// Where the devices of a request are to be found: who they are, so that they are found again when
/// they come back under another card's number.
struct DevicePlaces {
  /// One PCM as it was named, and the identity that was behind the name.
  private struct Place {
    let name: String
    let identity: String
    /// The card that the name speaks of, by number or by name; nil where it speaks of none.
    let card: String?

    init(_ name: String) {
      self.name = name
      identity = DeviceIdentity.of(name)
      card = DeviceIdentity.isKnown(name) ? HardwareAddress(name).card : nil
    }

    /// The name that opens it now and its card; nil where it is not there.
    func current() -> (name: String, card: Int?)? {
      // What speaks of no card is found by its name or not at all.
      guard let card else { return (name, nil) }
      for number in DeviceIdentity.cards {
        let numbered = HardwareAddress.name(name, onCard: number)
        guard DeviceIdentity.of(numbered) == identity else { continue }
        return (Int(card) == nil ? name : numbered, number)
      }
      return nil
    }
  }

  private let capture: Place?
  private let playback: Place?

  /// Looks at the devices while they are there.
  init(_ request: DuplexRequest) {
    capture = request.captureDevice.map(Place.init)
    playback = request.playbackDevice.map(Place.init)
  }

  /// `request` with the names that open the same devices now, and their cards; nil while one of
  /// them is not there.
  func locate(_ request: DuplexRequest) -> (request: DuplexRequest, cards: [Int])? {
    var request = request
    var cards: [Int] = []
    if let capture {
      guard let found = capture.current() else { return nil }
      request.captureDevice = found.name
      if let card = found.card { cards.append(card) }
    }
    if let playback {
      guard let found = playback.current() else { return nil }
      request.playbackDevice = found.name
      if let card = found.card, !cards.contains(card) { cards.append(card) }
    }
    return (request, cards)
  }
}

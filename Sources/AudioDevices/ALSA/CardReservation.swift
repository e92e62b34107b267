import RealtimeAudio

/// Cards that this program has reserved over D-Bus (`org.freedesktop.ReserveDevice1`). Sound
/// servers keep cards open all the time and release them on such a request.
///
/// The program that uses a card owns the card's name on the session's bus. The bus removes the name
/// when the connection ends, so that the card is released even if this program crashes.
public final class CardReservation: Sendable {
  private struct State {
    var keepers: [Int: ReservationThread] = [:]
    var isReleased = false
  }

  private let state = MutexBox(State())

  /// Creates a reservation without cards.
  public init() {}

  /// Returns the result of `open`. If a card of the ALSA names `names` is busy, requests the
  /// program that uses it to release it, and calls `open` again. Throws what `open` throws.
  public func opening<Device: ~Copyable>(
    _ names: [String], _ open: () throws(DeviceFailure) -> Device
  ) throws(DeviceFailure) -> Device {
    let failure: DeviceFailure
    do throws(DeviceFailure) {
      return try open()
    } catch {
      failure = error
    }
    guard failure.kind == .busy else { throw failure }
    let cards = Set(names.compactMap(DeviceIdentity.cardNumber(behind:)))
    guard !cards.isEmpty else { throw failure }
    // A device of several cards may be busy because of one of them, and no program responds for the
    // others.
    var isAnyReserved = false
    for card in cards.sorted() {
      if try reserve(card, failure) { isAnyReserved = true }
    }
    guard isAnyReserved else {
      throw DeviceFailure(
        .busy, "\(failure.message.dropLast()), and no program answers the request to release it.",
        hint: "End the program that holds it, or choose another device.", remedy: .endHolder)
    }
    // A program that has agreed may close the card a little later.
    for _ in 0..<40 {
      do throws(DeviceFailure) {
        return try open()
      } catch {
        guard error.kind == .busy else { throw error }
      }
      HostClock.pause(milliseconds: 50)
    }
    throw failure
  }

  /// Releases all cards. Cards that are reserved later are not kept.
  public func release() {
    let threads = state.withLock { state -> [ReservationThread] in
      defer { state = State(isReleased: true) }
      return Array(state.keepers.values)
    }
    for thread in threads { thread.end() }
  }

  /// Reserves a card, unless it is already reserved. Returns false if no program responds for it.
  /// Throws if the program that uses the card does not release it.
  private func reserve(_ card: Int, _ failure: DeviceFailure) throws(DeviceFailure) -> Bool {
    guard state.withLock({ $0.keepers[card] == nil }) else { return true }
    switch ReservedCard.request(card) {
    case .granted(let reserved):
      if let thread = ReservationThread(reserved) {
        // A thread that is not stored is destroyed, which releases the card.
        state.withLock { if !$0.isReleased { $0.keepers[card] = thread } }
      }
      return true
    case .refused:
      throw DeviceFailure(
        .busy, "\(failure.message.dropLast()), which was asked to release it and refused.",
        hint:
          "Stop what it plays or records there, or end it; the device default goes through a sound server.",
        remedy: .useSoundServer
      )
    case .unanswered: return false
    }
  }
}

/// The name of one card on the bus, owned until the value goes out of scope.
private struct ReservedCard: ~Copyable {
  /// The answer to a request.
  enum Answer: ~Copyable {
    case granted(ReservedCard)
    /// The program that uses the card does not release it.
    case refused
    /// There is no bus, or no program on it uses the card.
    case unanswered
  }

  /// The highest priority, as JACK's: later requests of other programs are refused.
  private static let priority = Int32.max
  private let bus: MessageBus

  /// Acquires the card's name, from its owner if the owner releases it.
  static func request(_ card: Int) -> Answer {
    guard let address = MessageBus.sessionAddress,
      let bus = MessageBus.connected(to: address)
    else { return .unanswered }
    let name = "org.freedesktop.ReserveDevice1.Audio\(card)"
    // 4: without waiting in a queue. 2: in place of another owner. The answer 1 means that this
    // program owns it.
    if bus.number(calling: "RequestName", of: .bus, [.text(name), .unsigned32(4)]) == 1 {
      // The name had no owner: the program that uses the card does not take part in the protocol.
      return .unanswered
    }
    let owner = BusService(
      name: name, path: "/org/freedesktop/ReserveDevice1/Audio\(card)",
      interface: "org.freedesktop.ReserveDevice1")
    // A sound server may have to end streams first.
    let isGiven = bus.number(
      calling: "RequestRelease", of: owner, [.signed32(priority)], milliseconds: 5000)
    guard let isGiven else { return .unanswered }
    guard isGiven == 1,
      bus.number(calling: "RequestName", of: .bus, [.text(name), .unsigned32(6)]) == 1
    else { return .refused }
    return .granted(ReservedCard(bus: bus))
  }

  /// Answers requests of other programs for the card, for 100 ms. Returns false if the bus
  /// connection is lost.
  func answerOthers() -> Bool {
    bus.answerCalls(within: 100) { call in
      switch (call.method, call.texts.last) {
      case ("RequestRelease", _): BusReply(.truth(false))
      case ("Get", "Priority"): BusReply(.signed32(Self.priority), isProperty: true)
      case ("Get", "ApplicationName"): BusReply(.text("duplex"), isProperty: true)
      case ("Get", "ApplicationDeviceName"): BusReply(.text(""), isProperty: true)
      default: nil
      }
    }
  }
}

/// The thread that answers for a reserved card. The card is released when the thread ends.
private final class ReservationThread: @unchecked Sendable {
  // @unchecked because only the caller that took it from the mutex ends it.
  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because the thread that creates it passes it to the one that runs it.
    let card: ReservedCard
    let isOver: AtomicFlag

    mutating func run() {
      while !isOver.isRaised, card.answerOthers() {}
    }
  }

  private let isOver = AtomicFlag()
  private var thread: RealtimeThread<Work>?

  init?(_ card: consuming ReservedCard) {
    let work = Work(card: card, isOver: isOver)
    guard let made = try? RealtimeThread(name: "duplex-reserve", priority: .normal, work) else {
      return nil
    }
    thread = consume made
  }

  // The destruction of the thread waits for its end.
  deinit { isOver.raise() }

  func end() {
    isOver.raise()
    guard let ending = thread.take() else { return }
    _ = ending.join()
  }
}

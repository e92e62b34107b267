import RealtimeAudio

/// Cards that programs of this session gave up when they were asked to, until this is released: sound
/// servers hold cards all the time, and agree by a protocol who has one, `org.freedesktop.ReserveDevice1`.
///
/// A card's name on the session's bus belongs to whoever uses the card. As it goes with the connection, the
/// card is given back whatever becomes of this program.
public final class CardReservation: Sendable {
  private let keepers = MutexBox<[Int: ReservationThread]>([:])

  /// Holds none yet.
  public init() {}

  /// What `open` answers with. Where it finds a card of the ALSA names `names` busy, the card's holder is
  /// asked to release it, and it is opened again.
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
    for card in cards.sorted() { try reserve(card, failure) }
    // Who has said yes may take a moment to close it.
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

  /// Gives all of them back.
  public func release() {
    let threads = keepers.withLock { keepers -> [ReservationThread] in
      defer { keepers = [:] }
      return Array(keepers.values)
    }
    for thread in threads { thread.end() }
  }

  private func reserve(_ card: Int, _ failure: DeviceFailure) throws(DeviceFailure) {
    guard keepers.withLock({ $0[card] == nil }) else { return }
    switch ReservedCard.asking(for: card) {
    case .granted(let reserved):
      guard let thread = ReservationThread(reserved) else { return }
      keepers.withLock { $0[card] = thread }
    case .refused:
      throw DeviceFailure(
        .busy, "\(failure.message.dropLast()), which was asked for it and keeps it.",
        hint:
          "Stop what it plays or records there, or end it; --device default goes through a sound server."
      )
    case .unanswered:
      throw DeviceFailure(
        .busy, "\(failure.message.dropLast()), and nobody answers the request to release it.",
        hint: "End the program that holds it, or name another device with --device.")
    }
  }
}

/// One card's name on the bus, owned until out of scope.
private struct ReservedCard: ~Copyable {
  /// What became of asking.
  enum Answer: ~Copyable {
    case granted(ReservedCard)
    /// Its holder wants to keep it.
    case refused
    /// There is no bus, or nobody on it who holds the card.
    case unanswered
  }

  /// JACK's: nobody's is higher, and those who ask later are refused.
  private static let priority = Int32.max
  private let bus: MessageBus

  /// Takes the card's name, from its owner if that lets go of it.
  static func asking(for card: Int) -> Answer {
    guard let address = MessageBus.sessionAddress,
      let bus = MessageBus.connected(to: address)
    else { return .unanswered }
    let name = "org.freedesktop.ReserveDevice1.Audio\(card)"
    // 4: without waiting in a queue. 2: in place of another owner. 1 is the answer to who has it.
    if bus.number(calling: "RequestName", of: .bus, [.text(name), .unsigned32(4)]) == 1 {
      // Nobody had it: who holds the card does not take part.
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

  /// Answers those who ask for the card, for a tenth of a second. False where the bus is gone.
  func answerOthers() -> Bool {
    bus.answerCalls(within: 100) { call in
      switch (call.method, call.texts.last) {
      case ("RequestRelease", _): BusReply(.truth(false))
      case ("Get", "Priority"): BusReply(property: .signed32(Self.priority))
      case ("Get", "ApplicationName"): BusReply(property: .text("duplex"))
      case ("Get", "ApplicationDeviceName"): BusReply(property: .text(""))
      default: nil
      }
    }
  }
}

/// The thread that answers for a reserved card. What is reserved is given back with its end.
private final class ReservationThread: @unchecked Sendable {
  // @unchecked because only who took it from the mutex ends it.
  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from the thread that made it to the one that runs it.
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

  func end() {
    isOver.raise()
    guard let ending = thread.take() else { return }
    _ = ending.join()
  }
}

import Glibc

/// A value as it travels over the bus.
enum BusValue: Equatable {
  case text(String)
  case unsigned32(UInt32)
  case unsigned64(UInt64)
}

/// The system's message bus, connected until out of scope. Every failure is the same: no answer.
struct SystemBus: ~Copyable {
  private let library: BusLibrary
  private let connection: BusLibrary.Connection

  /// Connects and introduces itself. Step by step, because libdbus by itself would wait for ever
  /// for a bus that accepts and then says nothing.
  static func connected(to address: String = usualAddress) -> SystemBus? {
    guard let library = BusLibrary(), let connection = library.connect(address, nil) else {
      return nil
    }
    let bus = SystemBus(library, connection)
    let driver = BusService(
      name: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus")
    guard bus.isTrustedSoon, bus.succeeds(driver, "Hello", []) else { return nil }
    return bus
  }

  static var usualAddress: String {
    getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
      ?? "unix:path=/run/dbus/system_bus_socket"
  }

  private init(_ library: BusLibrary, _ connection: BusLibrary.Connection) {
    // By default libdbus ends the program when the bus goes away.
    library.setExitOnDisconnect(connection, 0)
    self.library = library
    self.connection = connection
  }

  /// Whether the bus believes who we are, within a second.
  private var isTrustedSoon: Bool {
    let end = HostClock.nanoseconds + 1_000_000_000
    while library.isTrusted(connection) == 0 {
      guard HostClock.nanoseconds < end, library.exchange(connection, 100) != 0 else {
        return false
      }
    }
    return true
  }

  deinit {
    library.close(connection)
    library.releaseConnection(connection)
  }

  /// Whether the method was called and came back without an error.
  func succeeds(_ service: BusService, _ method: String, _ arguments: [BusValue]) -> Bool {
    answer(service, service.interface, method, arguments) { _ in true } ?? false
  }

  /// A property that is a number.
  func number(_ service: BusService, _ property: String) -> Int? {
    let library = library
    return answer(
      service, "org.freedesktop.DBus.Properties", "Get",
      [.text(service.interface), .text(property)]
    ) { Self.number(in: $0, library) }
  }

  private func answer<Answer>(
    _ service: BusService, _ interface: String, _ method: String, _ arguments: [BusValue],
    read: (BusLibrary.Message) -> Answer?
  ) -> Answer? {
    guard let call = library.makeCall(service.name, service.path, interface, method) else {
      return nil
    }
    defer { library.releaseMessage(call) }
    guard Self.append(arguments, to: call, library),
      let reply = library.send(connection, call, 1000, nil)
    else { return nil }
    defer { library.releaseMessage(reply) }
    return read(reply)
  }

  private static func append(
    _ arguments: [BusValue], to call: BusLibrary.Message, _ library: BusLibrary
  ) -> Bool {
    withIterator { iterator in
      library.beginAppending(call, iterator)
      return arguments.allSatisfy { argument in
        switch argument {
        case .text(let text):
          text.withCString { text in
            withUnsafePointer(to: text) { library.append(iterator, code("s"), $0) != 0 }
          }
        case .unsigned32(let number):
          withUnsafePointer(to: number) { library.append(iterator, code("u"), $0) != 0 }
        case .unsigned64(let number):
          withUnsafePointer(to: number) { library.append(iterator, code("t"), $0) != 0 }
        }
      }
    }
  }

  /// The number in a reply, bare or wrapped as properties are.
  private static func number(in reply: BusLibrary.Message, _ library: BusLibrary) -> Int? {
    withIterator { outer in
      guard library.beginReading(reply, outer) != 0 else { return nil }
      guard library.type(outer) == code("v") else { return number(at: outer, library) }
      return withIterator { inner in
        library.enter(outer, inner)
        return number(at: inner, library)
      }
    }
  }

  private static func number(at iterator: BusLibrary.Iterator, _ library: BusLibrary) -> Int? {
    // The library writes as many bytes as the type has, so the lower half may be all.
    var bits: UInt64 = 0
    switch library.type(iterator) {
    case code("i"):
      library.value(iterator, &bits)
      return Int(Int32(truncatingIfNeeded: bits))
    case code("u"), code("t"), code("x"):
      library.value(iterator, &bits)
      return Int(truncatingIfNeeded: bits)
    default: return nil
    }
  }

  /// Lends room for a `DBusMessageIter`: 72 bytes, and none of them the caller's business.
  private static func withIterator<Result>(_ body: (BusLibrary.Iterator) -> Result) -> Result {
    var room = InlineArray<16, UInt64>(repeating: 0)
    return withUnsafeMutablePointer(to: &room) { body(UnsafeMutableRawPointer($0)) }
  }

  private static func code(_ letter: Unicode.Scalar) -> Int32 { Int32(letter.value) }
}

/// Where a service is found on the bus.
struct BusService {
  let name: String
  let path: String
  let interface: String
}

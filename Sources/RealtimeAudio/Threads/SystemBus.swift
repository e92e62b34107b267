import CRealtime
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

  /// Whether the bus authenticates this program within a second.
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

/// The calls of libdbus that one question needs, from a library that is loaded only when asked.
///
/// Not linked, because a user who is granted realtime priority directly never needs it, and it takes
/// memory. Once loaded it stays: it keeps state of its own that unloading would leak.
struct BusLibrary {
  typealias Connection = OpaquePointer
  typealias Message = OpaquePointer
  typealias Iterator = UnsafeMutableRawPointer

  let connect:
    @convention(c) (_ address: UnsafePointer<CChar>, _ error: UnsafeMutableRawPointer?)
      -> Connection?
  let setExitOnDisconnect: @convention(c) (Connection, _ isOn: UInt32) -> Void
  let isTrusted: @convention(c) (Connection) -> UInt32
  let exchange: @convention(c) (Connection, _ milliseconds: Int32) -> UInt32
  let close: @convention(c) (Connection) -> Void
  let releaseConnection: @convention(c) (Connection) -> Void
  let makeCall:
    @convention(c) (
      _ name: UnsafePointer<CChar>, _ path: UnsafePointer<CChar>,
      _ interface: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>
    ) -> Message?
  let send:
    @convention(c) (
      Connection, Message, _ milliseconds: Int32, _ error: UnsafeMutableRawPointer?
    ) -> Message?
  let releaseMessage: @convention(c) (Message) -> Void
  let beginAppending: @convention(c) (Message, Iterator) -> Void
  let append: @convention(c) (Iterator, _ type: Int32, _ value: UnsafeRawPointer) -> UInt32
  let beginReading: @convention(c) (Message, Iterator) -> UInt32
  let type: @convention(c) (Iterator) -> Int32
  let enter: @convention(c) (Iterator, _ inner: Iterator) -> Void
  let value: @convention(c) (Iterator, _ value: UnsafeMutableRawPointer) -> Void

  /// Nil where the library is missing, or not the one known here.
  init?() {
    guard let library = dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL),
      let connect = dlsym(library, "dbus_connection_open_private"),
      let setExitOnDisconnect = dlsym(library, "dbus_connection_set_exit_on_disconnect"),
      let isTrusted = dlsym(library, "dbus_connection_get_is_authenticated"),
      let exchange = dlsym(library, "dbus_connection_read_write"),
      let close = dlsym(library, "dbus_connection_close"),
      let releaseConnection = dlsym(library, "dbus_connection_unref"),
      let makeCall = dlsym(library, "dbus_message_new_method_call"),
      let send = dlsym(library, "dbus_connection_send_with_reply_and_block"),
      let releaseMessage = dlsym(library, "dbus_message_unref"),
      let beginAppending = dlsym(library, "dbus_message_iter_init_append"),
      let append = dlsym(library, "dbus_message_iter_append_basic"),
      let beginReading = dlsym(library, "dbus_message_iter_init"),
      let type = dlsym(library, "dbus_message_iter_get_arg_type"),
      let enter = dlsym(library, "dbus_message_iter_recurse"),
      let value = dlsym(library, "dbus_message_iter_get_basic")
    else { return nil }
    self.connect = Self.call(connect)
    self.setExitOnDisconnect = Self.call(setExitOnDisconnect)
    self.isTrusted = Self.call(isTrusted)
    self.exchange = Self.call(exchange)
    self.close = Self.call(close)
    self.releaseConnection = Self.call(releaseConnection)
    self.makeCall = Self.call(makeCall)
    self.send = Self.call(send)
    self.releaseMessage = Self.call(releaseMessage)
    self.beginAppending = Self.call(beginAppending)
    self.append = Self.call(append)
    self.beginReading = Self.call(beginReading)
    self.type = Self.call(type)
    self.enter = Self.call(enter)
    self.value = Self.call(value)
  }

  private static func call<Function>(_ symbol: UnsafeMutableRawPointer) -> Function {
    unsafeBitCast(symbol, to: Function.self)
  }
}

/// The service of Linux desktops that gives realtime priority to users who may not take it.
enum RealtimeKit {
  private static let service = BusService(
    name: "org.freedesktop.RealtimeKit1", path: "/org/freedesktop/RealtimeKit1",
    interface: "org.freedesktop.RealtimeKit1")

  /// Asks for SCHED_RR of `priority`, or of the highest the service gives, for the calling thread;
  /// returns what was given. Nil where there is no such service or it refuses.
  ///
  /// The price: from then on the kernel ends the program when a realtime thread computes for as
  /// long as the service allows, 200 ms as a rule, without ever sleeping.
  static func makeThisThreadRealtime(priority: Int) -> Int? {
    guard let bus = SystemBus.connected(),
      let highest = bus.number(service, "MaxRealtimePriority")
    else { return nil }
    let microseconds = bus.number(service, "RTTimeUSecMax") ?? 200_000
    // The service looks for this limit first. Where a lower one is set already, this fails and
    // that one will do.
    linux_limit_realtime(UInt(max(1, microseconds)))
    let number = max(1, min(priority, highest))
    let isGranted = bus.succeeds(
      service, "MakeThreadRealtime",
      [.unsigned64(UInt64(linux_thread_number())), .unsigned32(UInt32(number))])
    return isGranted ? number : nil
  }
}

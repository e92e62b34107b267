import Glibc

/// A value of a D-Bus message.
package enum BusValue: Equatable {
  case text(String)
  case truth(Bool)
  case signed32(Int32)
  case unsigned32(UInt32)
  case unsigned64(UInt64)
}

/// A connection to D-Bus, the system bus or the session bus, which is closed at the end of its
/// lifetime. All failures are reported in the same way: as a missing reply. Used by one thread at a
/// time.
package struct MessageBus: ~Copyable {
  private let library: BusLibrary
  private let connection: BusLibrary.Connection

  /// Connects to the bus and calls `Hello`; returns nil on failure. Authentication is polled here,
  /// because libdbus would wait without a timeout for a bus that accepts the connection and sends
  /// nothing.
  package static func connected(to address: String) -> MessageBus? {
    // Other kinds of addresses start programs or use a network.
    guard address.split(separator: ";").allSatisfy({ $0.hasPrefix("unix:") }),
      let library = BusLibrary(), let connection = library.connect(address, nil)
    else {
      return nil
    }
    let bus = MessageBus(library, connection)
    guard bus.isAuthenticated, bus.succeeds(.bus, "Hello", []) else { return nil }
    return bus
  }

  /// The address of the system bus.
  static var systemAddress: String {
    getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
      ?? "unix:path=/run/dbus/system_bus_socket"
  }

  /// The address of this user's session bus; nil if there is none.
  package static var sessionAddress: String? {
    if let address = getenv("DBUS_SESSION_BUS_ADDRESS") { return String(cString: address) }
    guard let folder = getenv("XDG_RUNTIME_DIR") else { return nil }
    let path = String(cString: folder) + "/bus"
    return access(path, F_OK) == 0 ? "unix:path=" + path : nil
  }

  private init(_ library: BusLibrary, _ connection: BusLibrary.Connection) {
    // By default libdbus ends the program when the bus disconnects.
    library.setExitOnDisconnect(connection, 0)
    self.library = library
    self.connection = connection
  }

  /// Whether the bus authenticates this program within a second.
  private var isAuthenticated: Bool {
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

  /// Returns whether the method was called and returned without an error.
  func succeeds(_ service: BusService, _ method: String, _ arguments: [BusValue]) -> Bool {
    answer(service, service.interface, method, arguments) { _ in true } ?? false
  }

  /// Returns a property that is a number; nil on failure.
  func number(_ service: BusService, _ property: String) -> Int? {
    let library = library
    return answer(
      service, "org.freedesktop.DBus.Properties", "Get",
      [.text(service.interface), .text(property)]
    ) { Self.number(in: $0, library) }
  }

  /// Returns the result of a method that returns a number or a Boolean (1 or 0); nil on failure.
  package func number(
    calling method: String, of service: BusService, _ arguments: [BusValue],
    milliseconds: Int32 = 1000
  ) -> Int? {
    let library = library
    return answer(service, service.interface, method, arguments, milliseconds) {
      Self.number(in: $0, library)
    }
  }

  /// Waits up to `milliseconds` for method calls of other programs and replies to each with the
  /// result of `value`, which gets the call's interface, method and first texts. If `value` returns
  /// nil, the reply is an error. Returns false if the bus has disconnected.
  package func answerCalls(
    within milliseconds: Int32, _ value: (BusCall) -> BusReply?
  ) -> Bool {
    let isThere = library.exchange(connection, milliseconds) != 0
    while let message = library.takeMessage(connection) {
      defer { library.releaseMessage(message) }
      // 1 is a method call.
      guard library.messageType(message) == 1 else { continue }
      let call = call(in: message)
      let answer =
        value(call).map { reply(to: message, $0) }
        ?? library.makeError(message, "org.freedesktop.DBus.Error.UnknownMethod", "Not known here.")
      guard let answer else { continue }
      _ = library.post(connection, answer, nil)
      library.releaseMessage(answer)
    }
    return isThere
  }

  private func call(in message: BusLibrary.Message) -> BusCall {
    var call = BusCall(
      interface: library.interface(message).map { String(cString: $0) } ?? "",
      method: library.member(message).map { String(cString: $0) } ?? "", texts: [])
    Self.withIterator { iterator in
      guard library.beginReading(message, iterator) != 0 else { return }
      repeat {
        guard library.type(iterator) == Self.code("s") else { return }
        var text: UnsafePointer<CChar>?
        library.value(iterator, &text)
        call.texts.append(text.map { String(cString: $0) } ?? "")
      } while library.next(iterator) != 0
    }
    return call
  }

  private func reply(to message: BusLibrary.Message, _ reply: BusReply) -> BusLibrary.Message? {
    guard let answer = library.makeReturn(message) else { return nil }
    let library = library
    Self.withIterator { outer in
      library.beginAppending(answer, outer)
      guard reply.isProperty else {
        _ = Self.append(reply.value, at: outer, library)
        return
      }
      Self.withIterator { inner in
        _ = library.open(outer, Self.code("v"), reply.value.signature, inner)
        _ = Self.append(reply.value, at: inner, library)
        _ = library.closeContainer(outer, inner)
      }
    }
    return answer
  }

  private func answer<Answer>(
    _ service: BusService, _ interface: String, _ method: String, _ arguments: [BusValue],
    _ milliseconds: Int32 = 1000, read: (BusLibrary.Message) -> Answer?
  ) -> Answer? {
    guard let call = library.makeCall(service.name, service.path, interface, method) else {
      return nil
    }
    defer { library.releaseMessage(call) }
    guard Self.append(arguments, to: call, library),
      let reply = library.send(connection, call, milliseconds, nil)
    else { return nil }
    defer { library.releaseMessage(reply) }
    return read(reply)
  }

  private static func append(
    _ arguments: [BusValue], to call: BusLibrary.Message, _ library: BusLibrary
  ) -> Bool {
    withIterator { iterator in
      library.beginAppending(call, iterator)
      return arguments.allSatisfy { append($0, at: iterator, library) }
    }
  }

  private static func append(
    _ value: BusValue, at iterator: BusLibrary.Iterator, _ library: BusLibrary
  ) -> Bool {
    let type = code(value.letter)
    func append(_ value: UnsafeRawPointer) -> Bool { library.append(iterator, type, value) != 0 }
    return switch value {
    case .text(let text): text.withCString { withUnsafePointer(to: $0) { append($0) } }
    case .truth(let isTrue): withUnsafePointer(to: UInt32(isTrue ? 1 : 0)) { append($0) }
    case .signed32(let number): withUnsafePointer(to: number) { append($0) }
    case .unsigned32(let number): withUnsafePointer(to: number) { append($0) }
    case .unsigned64(let number): withUnsafePointer(to: number) { append($0) }
    }
  }

  /// Returns the number in a reply, either plain or in a variant as for properties.
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
    // The library writes as many bytes as the type has, possibly only the lower half.
    var bits: UInt64 = 0
    switch library.type(iterator) {
    case code("i"):
      library.value(iterator, &bits)
      return Int(Int32(truncatingIfNeeded: bits))
    case code("u"), code("t"), code("x"), code("b"):
      library.value(iterator, &bits)
      return Int(truncatingIfNeeded: bits)
    default: return nil
    }
  }

  /// Calls `body` with memory for a `DBusMessageIter`, which has 72 bytes and is opaque to callers.
  private static func withIterator<Result>(_ body: (BusLibrary.Iterator) -> Result) -> Result {
    var room = InlineArray<16, UInt64>(repeating: 0)
    return withUnsafeMutablePointer(to: &room) { body(UnsafeMutableRawPointer($0)) }
  }

  private static func code(_ letter: Unicode.Scalar) -> Int32 { Int32(letter.value) }
}

/// The address of a service on the bus: its name, object path and interface.
package struct BusService {
  let name: String
  let path: String
  let interface: String

  /// Creates the address of a service from its name, object path and interface.
  package init(name: String, path: String, interface: String) {
    self.name = name
    self.path = path
    self.interface = interface
  }

  /// The bus itself.
  package static let bus = BusService(
    name: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
}

/// A method call from another program.
package struct BusCall: Equatable {
  /// The interface; empty if the call has none.
  package let interface: String
  /// The name of the method.
  package let method: String
  /// The texts at the beginning of the arguments, up to the first argument of another type.
  package var texts: [String]
}

/// A reply to a method call: a value, in a variant if it is the value of a property.
package struct BusReply {
  let value: BusValue
  let isProperty: Bool

  /// Creates the reply of a method, or the value of a property.
  package init(_ value: BusValue, isProperty: Bool = false) {
    (self.value, self.isProperty) = (value, isProperty)
  }
}

extension BusValue {
  /// The letter that D-Bus uses for the type.
  fileprivate var letter: Unicode.Scalar {
    switch self {
    case .text: "s"
    case .truth: "b"
    case .signed32: "i"
    case .unsigned32: "u"
    case .unsigned64: "t"
    }
  }

  fileprivate var signature: String { String(Character(letter)) }
}

/// The functions of libdbus that method calls and replies need. The library is loaded at the first
/// use.
///
/// It is not linked, because it needs memory and a user with direct access to realtime priority
/// never uses it. It is never unloaded, because unloading would leak its internal state.
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
  let next: @convention(c) (Iterator) -> UInt32
  let takeMessage: @convention(c) (Connection) -> Message?
  let messageType: @convention(c) (Message) -> Int32
  let interface: @convention(c) (Message) -> UnsafePointer<CChar>?
  let member: @convention(c) (Message) -> UnsafePointer<CChar>?
  let makeReturn: @convention(c) (Message) -> Message?
  let makeError:
    @convention(c) (Message, _ name: UnsafePointer<CChar>, _ text: UnsafePointer<CChar>) -> Message?
  let post: @convention(c) (Connection, Message, _ serial: UnsafeMutablePointer<UInt32>?) -> UInt32
  let open:
    @convention(c) (
      Iterator, _ type: Int32, _ signature: UnsafePointer<CChar>?, _ inner: Iterator
    ) -> UInt32
  let closeContainer: @convention(c) (Iterator, _ inner: Iterator) -> UInt32

  /// Loads the library. Nil if it is missing or lacks one of the functions.
  init?() {
    guard let library = dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL) else { return nil }
    do throws(MissingSymbol) {
      connect = try Self.find("dbus_connection_open_private", in: library)
      setExitOnDisconnect = try Self.find("dbus_connection_set_exit_on_disconnect", in: library)
      isTrusted = try Self.find("dbus_connection_get_is_authenticated", in: library)
      exchange = try Self.find("dbus_connection_read_write", in: library)
      close = try Self.find("dbus_connection_close", in: library)
      releaseConnection = try Self.find("dbus_connection_unref", in: library)
      makeCall = try Self.find("dbus_message_new_method_call", in: library)
      send = try Self.find("dbus_connection_send_with_reply_and_block", in: library)
      releaseMessage = try Self.find("dbus_message_unref", in: library)
      beginAppending = try Self.find("dbus_message_iter_init_append", in: library)
      append = try Self.find("dbus_message_iter_append_basic", in: library)
      beginReading = try Self.find("dbus_message_iter_init", in: library)
      type = try Self.find("dbus_message_iter_get_arg_type", in: library)
      enter = try Self.find("dbus_message_iter_recurse", in: library)
      value = try Self.find("dbus_message_iter_get_basic", in: library)
      next = try Self.find("dbus_message_iter_next", in: library)
      takeMessage = try Self.find("dbus_connection_pop_message", in: library)
      messageType = try Self.find("dbus_message_get_type", in: library)
      interface = try Self.find("dbus_message_get_interface", in: library)
      member = try Self.find("dbus_message_get_member", in: library)
      makeReturn = try Self.find("dbus_message_new_method_return", in: library)
      makeError = try Self.find("dbus_message_new_error", in: library)
      post = try Self.find("dbus_connection_send", in: library)
      open = try Self.find("dbus_message_iter_open_container", in: library)
      closeContainer = try Self.find("dbus_message_iter_close_container", in: library)
    } catch {
      return nil
    }
  }

  private struct MissingSymbol: Error {}

  private static func find<Function>(
    _ name: String, in library: UnsafeMutableRawPointer
  ) throws(MissingSymbol) -> Function {
    guard let symbol = dlsym(library, name) else { throw MissingSymbol() }
    return unsafeBitCast(symbol, to: Function.self)
  }
}

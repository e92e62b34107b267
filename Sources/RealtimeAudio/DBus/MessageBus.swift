import Glibc

/// A value as it travels over the bus.
package enum BusValue: Equatable {
  case text(String)
  case truth(Bool)
  case signed32(Int32)
  case unsigned32(UInt32)
  case unsigned64(UInt64)
}

/// D-Bus, the system's or the session's, connected until out of scope. Every failure is the same:
/// no answer. Used by one thread at a time.
package struct MessageBus: ~Copyable {
  private let library: BusLibrary
  private let connection: BusLibrary.Connection

  /// Connects and introduces itself. Step by step, because libdbus by itself would wait for ever
  /// for a bus that accepts and then says nothing.
  package static func connected(to address: String) -> MessageBus? {
    // Other kinds of address start programs, or reach through a network.
    guard address.split(separator: ";").allSatisfy({ $0.hasPrefix("unix:") }),
      let library = BusLibrary(), let connection = library.connect(address, nil)
    else {
      return nil
    }
    let bus = MessageBus(library, connection)
    guard bus.isTrustedSoon, bus.succeeds(.bus, "Hello", []) else { return nil }
    return bus
  }

  /// Where the system's bus is.
  static var systemAddress: String {
    getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
      ?? "unix:path=/run/dbus/system_bus_socket"
  }

  /// Where the bus of this user's session is; nil where there is none.
  package static var sessionAddress: String? {
    if let address = getenv("DBUS_SESSION_BUS_ADDRESS") { return String(cString: address) }
    guard let folder = getenv("XDG_RUNTIME_DIR") else { return nil }
    let path = String(cString: folder) + "/bus"
    return access(path, F_OK) == 0 ? "unix:path=" + path : nil
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

  /// Answer of a method that returns a number or a truth (1 or 0).
  package func number(
    calling method: String, of service: BusService, _ arguments: [BusValue],
    milliseconds: Int32 = 1000
  ) -> Int? {
    let library = library
    return answer(service, service.interface, method, arguments, milliseconds) {
      Self.number(in: $0, library)
    }
  }

  /// Waits so long for calls of others, and answers each with what `value` says of its interface,
  /// method and first two texts; nil is an error. False where the bus is gone.
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
    case code("u"), code("t"), code("x"), code("b"):
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

/// Address of a service on the bus: its name, object and interface.
package struct BusService {
  let name: String
  let path: String
  let interface: String

  /// A service by its name, object and interface.
  package init(name: String, path: String, interface: String) {
    self.name = name
    self.path = path
    self.interface = interface
  }

  /// The bus itself.
  package static let bus = BusService(
    name: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
}

/// Method call that another program makes over the bus.
package struct BusCall: Equatable {
  /// The interface, empty where it is left out.
  package let interface: String
  /// The method.
  package let method: String
  /// The texts that its arguments begin with.
  package var texts: [String]
}

/// Reply to a method call: a value, wrapped where it is a property's.
package struct BusReply {
  let value: BusValue
  let isProperty: Bool

  /// A method's answer, or a property's value.
  package init(_ value: BusValue, isProperty: Bool = false) {
    (self.value, self.isProperty) = (value, isProperty)
  }
}

extension BusValue {
  /// D-Bus's letter for its type.
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

/// The calls of libdbus that questions and their answers need, from a library that is loaded only
/// when asked.
///
/// Not linked, because a user who is granted realtime priority directly never needs it, and it
/// takes memory. Once loaded it stays: it keeps state of its own that unloading would leak.
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

  /// Nil where the library is missing, or not the one known here.
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
